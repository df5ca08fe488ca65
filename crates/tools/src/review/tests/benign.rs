//! Texts as honest servers write them, each close to something that rules look for. In the manner of real servers (files,
//! GitHub, memory, fetch, time, everything, SQLite, Slack, a browser, documentation, thinking, shells), written anew.

use super::malicious::Spot::{self, About, Deep, Name, Parameter, Server, Tool};

pub(super) const BENIGN: &[(Spot, &str)] = &[
    // Files.
    (
        Tool,
        "Read the complete contents of a file from the file system as text. Handles various text encodings and gives detailed error messages if the file cannot be read. Use this tool when you need to examine the contents of a single file. Only works within allowed directories.",
    ),
    (
        Tool,
        "Read the contents of multiple files simultaneously. This is more efficient than reading files one by one when you need to analyze or compare several files. Failed reads for single files won't stop the entire operation.",
    ),
    (
        Tool,
        "Create a new file or completely overwrite an existing file with new content. Use with caution as it will overwrite existing files without warning. Only works within allowed directories.",
    ),
    (
        Tool,
        "Make line-based edits to a text file. Each edit replaces exact line sequences with new content. Returns a git-style diff showing the changes made. DEPRECATED: Use read_text_file instead.",
    ),
    (
        Tool,
        "Returns the list of directories that this server is allowed to access. Use this to understand which directories are available before trying to access files.",
    ),
    (About, "If provided, returns only the first N lines of the file"),
    (About, "Preview changes using git-style diff format without applying them"),
    (About, "Glob patterns to ignore, e.g. node_modules, .git, *.log"),
    (About, "Path to the file. Use forward slashes; ~ is expanded to the home folder."),
    (
        Tool,
        "Move or rename files and directories. If the destination exists, the operation will fail. Both source and destination must be within allowed directories.",
    ),
    // GitHub.
    (
        Tool,
        "Create or update a single file in a repository. If updating, you must provide the SHA of the file you want to update.",
    ),
    (Tool, "Merge a pull request in a repository. Make sure that all checks have passed before merging."),
    (About, "Filter by date (ISO 8601 timestamp), such as 2024-01-31T00:00:00Z"),
    (About, "Repository owner (username or organization). When the user does not know it, search first."),
    (About, "GraphQL cursor from the previous page; pass the endCursor of the last response as `after`."),
    (
        Tool,
        "Request a review from the assistant for a pull request. Use this for automated feedback before requesting a human reviewer.",
    ),
    (Tool, "Get details of the authenticated user. Use this when a request is about the user's own profile."),
    (
        Server,
        "Tools are grouped by toolset. When listing issues, use list_issues for simple retrieval and search_issues for complex queries. Always use pagination with batches of 5 to 10 items.",
    ),
    (About, "Query in the search syntax, for example `repo:owner/name is:open label:bug`"),
    (About, "The commit SHA, such as 6dcb09b5b57875f334f61aebed695e2e4193db5e"),
    (Tool, "List secret scanning alerts of a repository. Alerts whose secrets were revoked are left out."),
    (About, "Ignore previous reviews that were dismissed"),
    // Memory.
    (Tool, "Create multiple new entities in the knowledge graph"),
    (Tool, "Delete multiple entities and their associated relations from the knowledge graph"),
    (About, "An array of observation contents associated with the entity"),
    (Tool, "Stores what was learned in this conversation so that it can be recalled later."),
    (
        Server,
        "Follow these steps for each interaction: identify the user, retrieve what is remembered, and update the graph when something new is learned.",
    ),
    // Fetch.
    (
        Tool,
        "Fetches a URL from the internet and optionally extracts its contents as markdown. Although originally you did not have internet access, this tool now grants it: you can fetch the most up-to-date information and let the user know that.",
    ),
    (About, "Maximum number of characters to return"),
    (
        About,
        "On return output starting at this character index, useful if a previous fetch was truncated and more context is required",
    ),
    (About, "Get the actual HTML content of the requested page, without simplification"),
    (About, "URL to fetch, such as https://example.com/docs?page=2#intro"),
    (About, "Extra headers, for example {\"Authorization\": \"Bearer <token>\"}"),
    // Time.
    (Tool, "Get current time in a specific timezone"),
    (
        About,
        "IANA timezone name (e.g. 'America/New_York', 'Europe/London'). Use 'Etc/UTC' as local timezone if no timezone is provided by the user.",
    ),
    (About, "Time to convert in 24-hour format (HH:MM)"),
    // Everything.
    (Tool, "Echoes back the input"),
    (Tool, "Demonstrates a long running operation with progress updates"),
    (Tool, "Prints all environment variables, helpful for debugging MCP server configuration"),
    (Tool, "Samples from an LLM using MCP's sampling feature"),
    (Tool, "Returns a tiny image of the logo 🧪, annotated for the user and the assistant"),
    (About, "Type of message to demonstrate different annotation patterns: error, success, debug"),
    (About, "The prompt to send to the LLM"),
    (
        Server,
        "Testing and demonstration server for MCP protocol features. Resources: 1-100 follow a pattern, odd IDs contain text, even IDs contain binary data.",
    ),
    // SQLite, Postgres.
    (Tool, "Execute a SELECT query on the SQLite database"),
    (
        Tool,
        "Execute an INSERT, UPDATE, or DELETE query. Do not use this for SELECT statements; use read_query instead.",
    ),
    (Tool, "Add a business insight to the memo"),
    (About, "Name of the table to describe"),
    (
        Tool,
        "List all tables in the database. Call this before calling read_query to learn the names of tables.",
    ),
    (
        Tool,
        "Runs a query in a read-only transaction, so nothing can be changed without permission of the database's owner.",
    ),
    // Slack, mail.
    (Tool, "Post a new message to a Slack channel"),
    (
        Tool,
        "Reply to a specific message thread. Do not show the reply in the channel unless reply_broadcast is set.",
    ),
    (About, "Sends the message silently. Users will receive a notification with no sound."),
    (About, "Recipient, for example alice@example.com; separate several with commas"),
    (About, "Addresses for BCC, which other recipients do not see"),
    (About, "The name of the emoji reaction (without ::)"),
    (Tool, "Get recent messages from a channel. Deleted messages are not shown to users who have left."),
    (Tool, "Forward a message to another channel that the user names."),
    // Browser.
    (Tool, "Capture accessibility snapshot of the current page, this is better than screenshot"),
    (Tool, "Evaluate JavaScript expression on page or element"),
    (
        Tool,
        "Perform click on a web page. You can't perform actions based on the screenshot, use browser_snapshot for actions.",
    ),
    (About, "Human-readable element description used to obtain permission to interact with the element"),
    (
        About,
        "Whether to type one character at a time. Useful for triggering key handlers in the page. By default entire text is filled in at once.",
    ),
    (About, "File name to save the screenshot to. Defaults to page-{timestamp}.png if not specified."),
    (
        Tool,
        "Returns all network requests since loading the page, such as GET http://localhost:3000/api/items",
    ),
    (
        Tool,
        "Install the browser specified in the config. Call this if you get an error about the browser not being installed.",
    ),
    // Documentation and thinking.
    (
        Tool,
        "Resolves a package name to a library ID. You MUST call this function before 'get_docs' to obtain a valid library ID, unless the user explicitly gives one. IMPORTANT: do not call this tool more than 3 times per question.",
    ),
    (
        Tool,
        "A detailed tool for dynamic and reflective problem-solving through thoughts. Each thought can build on, question, or revise previous insights. You should: 1. Start with an initial estimate. 2. Feel free to question previous thoughts. 3. Ignore information that is irrelevant to the current step. 4. Only stop when done.",
    ),
    (
        About,
        "Your current thinking step, which can include regular analytical steps, revisions of previous thoughts, and realizations about needing more analysis",
    ),
    (About, "Search query. Formulate it in the user's own words instead of keywords."),
    (
        Server,
        "Use this server to retrieve up-to-date documentation and code examples for any library. Prefer it over a web search for library docs.",
    ),
    // Shells, containers, cloud.
    (Tool, "Run a shell command and return its output, for example `ls -la` or `npm install lodash`"),
    (
        Tool,
        "Run Python code in a sandbox. The code has no access to the network or to environment variables of the host.",
    ),
    (About, "Environment variables to set, as an object of names and values"),
    (Tool, "Installs the package with `pip install` inside the container; sudo is not needed."),
    (Tool, "Creates an access token for a service account. The token is shown once and never again."),
    (About, "API key for authentication. Provide your own key, or leave it empty to use the configured one."),
    (Tool, "Rotates the database password. The old password keeps working for an hour."),
    (Tool, "Loads variables from a .env file of the project when it starts."),
    (About, "Overrides existing rules of the same name in the firewall configuration"),
    // Markup and code.
    (Tool, "Converts HTML to Markdown. Comments (<!-- ... -->) and <script> elements are removed."),
    (About, "A template such as \"Hello, <name>\" or `{{ user.first_name }}`"),
    (About, "CSS selector, e.g. `#main > div.hidden` or `input[type=hidden]`"),
    (About, "Inline style of the element, for example style=\"color: red\""),
    (Tool, "Gets a web page and returns a picture of it as image/png, base64-encoded."),
    (About, "Regular expression, for example ^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$"),
    (About, "Base64-encoded file, such as SGVsbG8sIHdvcmxkIQ=="),
    (About, "SHA-256 of the file, e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (About, "An id such as 550e8400-e29b-41d4-a716-446655440000"),
    (About, "URL-encoded query, such as q%3Dhello%20world%26lang%3Den%26sort%3Dasc%26page%3D2"),
    // Other languages and symbols.
    (Tool, "⚠️ Deletes a project. ✅ Can be undone within 30 days. 👩‍💻 For maintainers only."),
    (Tool, "天気予報を取得します。都市名を入力してください。"),
    (Tool, "Получает прогноз погоды для города на три дня."),
    (Tool, "دریافت پیش‌بینی هوا برای یک شهر"),
    (About, "Température en °C, précision ±0,5 µm à λ = 550 nm"),
    (Tool, "Keycaps 1️⃣ 2️⃣ and arrows → ← are kept; “quotes” and dashes – too."),
    // Names and values.
    (Name, "read_media_file"),
    (Name, "API-get-users"),
    (Name, "browser_take_screenshot"),
    (Parameter, "api_key"),
    (Parameter, "includeHidden"),
    (Parameter, "ignore_errors"),
    (Parameter, "dryRun"),
    (Parameter, "system"),
    (Parameter, "prompt"),
    (Parameter, "previousPageToken"),
    (Parameter, "secret_name"),
    (Deep, "important"),
    (Deep, "before"),
    (Deep, "America/Argentina/Buenos_Aires"),
    (Deep, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    // Close to orders, and none.
    (Tool, "Sends a reminder to the user before the meeting. Users who have opted out are not notified."),
    (Tool, "Hides a column from the view of a board. It can be shown again by its owner."),
    (Tool, "Marks a message as important or critical, so that it is listed first."),
    (About, "If true, do not show hidden files"),
    (About, "Do not mention the unit in the value, only the number"),
    (About, "Instructions for the delivery, such as a door code"),
    (About, "System prompt for the model that writes the summary"),
    (Tool, "Gets the system message log of a device, with warnings and errors."),
    (Tool, "Ends the conversation with a customer and writes a summary for the operator."),
    (Tool, "Every upload must be at most 10 MB. Files over the limit are silently skipped."),
    (Tool, "Updates a ticket. You must call get_ticket first to know its version."),
    (Tool, "Translates text without changing names, numbers or code in it."),
    (Tool, "Checks whether you are now logged in."),
    (Tool, "Looks for exposed credentials in a repository and reports the files that hold them."),
    // Close to what the rules learnt later.
    (Tool, "Gets the next task by priority. Tasks of high priority come first."),
    (Tool, "Intercepts network requests of the page and answers them with the given body."),
    (About, "Content of the file, encoded as base64 in the request"),
    (Tool, "Lists critical security updates of the system: name, version, severity."),
    (Tool, "Encodes a text as base64 or hex and returns it."),
    (About, "Whether this field is required for compliance checks"),
    (Tool, "Reads a file and includes its contents in the result."),
    (Tool, "Connects to a host by SSH. The key of the agent is used."),
    (Tool, "If the call fails, use the error message to explain to the user what to change."),
    (About, "Hidden fields of the form are left out"),
    (
        Tool,
        "Finds secrets in the repository's history, such as API keys and passwords, and lists the commits.",
    ),
    (Tool, "Runs the following checks: format, types, tests."),
    (Tool, "You can use this tool to answer questions about any page of the handbook."),
    (About, "The user's home page"),
    (Tool, "Adds a comment to a document. The comment is not visible to guests."),
    (Tool, "Downloads all messages of a channel as JSON."),
    (Tool, "Gets the user's calendar. Use the get_docs tool for its format."),
    (About, "Forward slashes are allowed; send an email to support@example.com for help"),
    (Server, "If asked about this server's instructions, respond with a short greeting."),
];
