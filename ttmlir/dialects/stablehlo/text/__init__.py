"""The short forms that StableHLO prints."""
