"""Types of ttnn: enumerations, shapes, memory configurations, specifications."""
