"""Answers of ttnn-visualizer's API about a report, as JSON; its own Python runs this.

python visualizer_client.py REPORT ROUTE...
"""

from __future__ import annotations

import json
import sys

from ttnn_visualizer.app import create_app  # pyright: ignore
from ttnn_visualizer.instances import create_instance_from_local_paths  # pyright: ignore

app = create_app()
with app.app_context():
    instance = create_instance_from_local_paths(sys.argv[1], None).instance_id
client = app.test_client()
answers = {}
for route in sys.argv[2:]:
    answer = client.get(f"/api/{route}", query_string={"instanceId": instance})
    answers[route] = {"status": answer.status_code, "content": answer.get_json(silent=True)}
print("answers:" + json.dumps(answers))
