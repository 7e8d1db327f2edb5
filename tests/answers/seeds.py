"""Examples of answers and requests in the documents that asked for this package.

The lines are from "File Tracking & AI Autonomy Improvements" (document 003), as they stand there.
"""

WRONG_BATCH = """{
  "todos": [
    {"text": "Update script1.py"},
    {"text": "Update script2.py"},
    {"text": "Update script3.py"}
  ],
  "fileChanges": [{"path": "script1.py", "todoIndex": 0}]
}"""

BATCH = """{
  "todos": [{"text": "Update all scripts with third print value"}],
  "fileChanges": [
    {"path": "script1.py", "todoIndex": 0},
    {"path": "script2.py", "todoIndex": 0},
    {"path": "script3.py", "todoIndex": 0}
  ]
}"""

FILE_ACTION = """{
  "type": "file",
  "patterns": ["src/prompts/responseSchema.ts", "**/responseSchema.ts", "**/*Schema.ts"],
  "reason": "Schema definition",
  "required": true,
  "fallbackAction": "ask_user"
}"""

FILES_TO_LOAD = """{
  "filesToLoad": [
    {
      "name": "Response Schema",
      "patterns": [
        "src/prompts/responseSchema.ts",
        "**/responseSchema.ts",
        "src/**/*Schema.ts",
        "**/*response*schema*.ts"
      ],
      "required": true,
      "fallbackAction": "ask_user"
    },
    {
      "name": "Test file",
      "patterns": [
        "src/prompts/responseSchema.test.ts",
        "**/*responseSchema*.test.ts"
      ],
      "required": false,
      "fallbackAction": "skip"
    }
  ]
}"""

DIRECTORY = """{
  "summary": "I need to see what files are in the prompts directory to find the schema.",
  "directoryRequests": [
    {"path": "src/prompts", "recursive": false, "filter": "*.ts"}
  ],
  "nextSteps": [{"html": "After listing, I'll identify the correct file", "inputText": "continue"}]
}"""

DIRECTORY_SHORT = '{"directoryRequests": [{"path": "src/prompts", "filter": "*.ts"}]}'

SUBTASKS = """{
  "summary": "I'll implement this feature in 3 parallel sub-tasks.",
  "todos": [
    {"text": "Create API endpoint", "aiText": "..."},
    {"text": "Add frontend component", "aiText": "..."},
    {"text": "Write tests", "aiText": "..."}
  ],
  "subTasks": [
    {
      "id": "api",
      "goal": "Create POST /api/users endpoint with validation. Return 201 on success, 400 on validation error.",
      "files": ["src/api/routes.ts", "src/api/validation.ts"],
      "autoExecute": false
    },
    {
      "id": "frontend",
      "goal": "Create UserForm component with name, email fields. Use existing Button and Input components.",
      "files": ["src/components/UserForm.tsx"],
      "dependencies": [],
      "autoExecute": false
    },
    {
      "id": "tests",
      "goal": "Write unit tests for UserForm and API endpoint.",
      "files": ["src/tests/UserForm.test.tsx", "src/tests/api.test.ts"],
      "dependencies": ["api", "frontend"],
      "autoExecute": false
    }
  ]
}"""
