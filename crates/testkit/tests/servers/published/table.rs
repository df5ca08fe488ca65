//! The servers.

use super::server::Server;

/// A file that some of them read.
const NOTES: &[(&str, &str)] = &[("notes.txt", "one\nglass front\nthree\n")];

/// All that are tried, in the order of their tests.
pub(crate) const SERVERS: &[Server] = &[
    Server::new(
        "slack",
        "npx:@modelcontextprotocol/server-slack@2025.4.25",
        ["slack_get_thread_replies", r#"{"channel_id": "C0", "thread_ts": "1.000000"}"#, "fetch failed"],
    )
    .flags(&["--env", "SLACK_BOT_TOKEN=xoxb-none", "--env", "SLACK_TEAM_ID=T0"]),
    Server::new(
        "github",
        "npx:@modelcontextprotocol/server-github@2025.4.8",
        ["get_issue", r#"{"owner": "a", "repo": "b", "issue_number": 1}"#, "fetch failed"],
    ),
    Server::new(
        "playwright",
        "npx:@playwright/mcp@0.0.83",
        ["browser_tabs", r#"{"action": "list"}"#, "Chrom"],
    ),
    Server::new("chrome-devtools", "npx:chrome-devtools-mcp@1.11.0", ["list_pages", "{}", "Chrome"]),
    Server::new(
        "time",
        "uvx:mcp-server-time==2026.10.19",
        [
            "convert_time",
            r#"{"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}"#,
            "T21:00:00+09:00",
        ],
    ),
    Server::new(
        "calculator",
        "uvx:mcp-server-calculator==0.2.1",
        ["calculate", r#"{"expression": "6*7"}"#, "42"],
    ),
    Server::new(
        "shell",
        "uvx:mcp-shell-server==1.1.14",
        ["shell_execute", r#"{"command": ["echo", "glass front"], "directory": "/tmp"}"#, "glass front"],
    )
    .flags(&["--env", "ALLOW_COMMANDS=ls,cat,echo,pwd,wc"]),
    Server::new(
        "everything",
        "npx:@modelcontextprotocol/server-everything@2026.8.31",
        ["echo", r#"{"message": "glass front"}"#, "Echo: glass front"],
    ),
    Server::new(
        "filesystem",
        "npx:@modelcontextprotocol/server-filesystem@2026.8.31",
        ["read_text_file", r#"{"path": "{work}/notes.txt"}"#, "glass front"],
    )
    .flags(&["--mount", "{work}"])
    .arguments(&["{work}"])
    .files(NOTES),
    Server::new(
        "sequential-thinking",
        "npx:@modelcontextprotocol/server-sequential-thinking@2026.8.31",
        [
            "sequentialthinking",
            r#"{"thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}"#,
            "thoughtHistoryLength",
        ],
    ),
    Server::new(
        "memory",
        "npx:@modelcontextprotocol/server-memory@2026.8.31",
        [
            "create_entities",
            r#"{"entities": [{"name": "hood", "entityType": "thing", "observations": ["glass front"]}]}"#,
            "glass front",
        ],
    )
    .flags(&["--data", "--env", "MEMORY_FILE_PATH={data}/memory.jsonl"])
    .remembering(),
    Server::new(
        "context7",
        "npx:@upstash/context7-mcp@4.1.1",
        ["query-docs", r#"{"libraryId": "/a/b", "query": "c"}"#, "Error fetching library context"],
    ),
    Server::new(
        "notion",
        "npx:@notionhq/notion-mcp-server@2.5.2",
        ["API-retrieve-a-page", r#"{"page_id": "00000000-0000-0000-0000-000000000000"}"#, "ENOTFOUND"],
    ),
    Server::new(
        "firecrawl",
        "npx:firecrawl-mcp@3.26.0",
        ["firecrawl_map", r#"{"url": "nonsense"}"#, "parameter validation failed"],
    )
    .flags(&["--env", "FIRECRAWL_API_KEY=fc-none"]),
    Server::new(
        "tavily",
        "npx:tavily-mcp@0.2.22",
        ["tavily_search", r#"{"query": "a"}"#, "Tavily API error"],
    )
    .flags(&["--env", "TAVILY_API_KEY=none"]),
    Server::new(
        "exa",
        "npx:exa-mcp-server@3.4.1",
        ["web_search_exa", r#"{"query": "a"}"#, "web_search_exa error"],
    )
    .flags(&["--env", "EXA_API_KEY=none"]),
    Server::new(
        "brave-search",
        "npx:@brave/brave-search-mcp-server@2.1.4",
        ["brave_web_search", r#"{"query": "a"}"#, "fetch failed"],
    )
    .flags(&["--env", "BRAVE_API_KEY=none"]),
    Server::new(
        "kubernetes",
        "npx:mcp-server-kubernetes@4.1.7",
        ["kubectl_context", r#"{"operation": "list"}"#, "contexts"],
    ),
    Server::new(
        "sentry",
        "npx:@sentry/mcp-server@0.39.0",
        ["search_sentry_tools", r#"{"query": "issue"}"#, "add_issue_note"],
    )
    .flags(&["--env", "SENTRY_ACCESS_TOKEN=none"]),
    Server::new(
        "mongodb",
        "npx:mongodb-mcp-server@3.0.4",
        ["list-connections", "{}", "There are no active connections"],
    ),
    Server::new(
        "figma",
        "npx:figma-developer-mcp@0.13.2",
        ["get_figma_data", r#"{"fileKey": "a"}"#, "Error fetching file"],
    )
    .flags(&["--env", "FIGMA_API_KEY=none"])
    .arguments(&["--stdio"]),
    Server::new(
        "desktop-commander",
        "npx:@wonderwhy-er/desktop-commander@0.2.52",
        ["list_sessions", "{}", "No active sessions"],
    )
    .telling_of_machine(),
    Server::new(
        "commands",
        "npx:mcp-server-commands@0.5.0",
        ["run_command", r#"{"command": "echo glass front"}"#, "glass front"],
    ),
    Server::new(
        "git-cyanheads",
        "npx:@cyanheads/git-mcp-server@2.15.3",
        ["git_wrapup_instructions", r#"{"acknowledgement": "Y"}"#, "Git Wrap-up"],
    ),
    Server::new(
        "fetch-kazuph",
        "npx:@kazuph/mcp-fetch@1.6.3",
        ["imageFetch", r#"{"url": "file:///x"}"#, "http/https"],
    ),
    Server::new(
        "fetch-tokenizin",
        "npx:@tokenizin/mcp-npx-fetch@1.0.0",
        ["fetch_txt", r#"{"url": "nonsense"}"#, "Invalid url"],
    ),
    Server::new(
        "hello-world",
        "npx:mcp-hello-world@1.1.2",
        ["echo", r#"{"message": "glass front"}"#, "You said: glass front"],
    ),
    Server::new(
        "elasticsearch",
        "npx:@elastic/mcp-server-elasticsearch@0.3.1",
        ["search", r#"{"index": "a", "queryBody": {}}"#, "ENOTFOUND"],
    )
    .flags(&["--env", "ES_URL=https://es.example", "--env", "ES_API_KEY=none"]),
    Server::new(
        "fetch",
        "uvx:mcp-server-fetch==2026.10.24",
        ["fetch", r#"{"url": "nonsense"}"#, "validation error"],
    ),
    Server::new(
        "git",
        "uvx:mcp-server-git==2026.10.19",
        ["git_status", r#"{"repo_path": "/tmp"}"#, "Error executing tool git_status"],
    ),
    Server::new(
        "sqlite",
        "uvx:mcp-server-sqlite==2025.4.25",
        ["read_query", r#"{"query": "select 6*7 as answer"}"#, "42"],
    )
    .flags(&["--data"])
    .runner(&["uvx", "--with", "mcp<2", "mcp-server-sqlite==2025.4.25"])
    .arguments(&["--db-path", "{data}/test.db"]),
    Server::new(
        "duckduckgo",
        "uvx:duckduckgo-mcp-server==0.7.0",
        ["search", r#"{"query": "a"}"#, "No results were found"],
    ),
    Server::new("arxiv", "uvx:arxiv-mcp-server==0.8.2", ["list_papers", "{}", "total_papers"])
        .flags(&["--data"])
        .arguments(&["--storage-path", "{data}"]),
    Server::new(
        "wikipedia",
        "uvx:wikipedia-mcp==2.0.1",
        ["search_wikipedia", r#"{"query": ""}"#, "Empty search query"],
    ),
    Server::new("excel", "uvx:excel-mcp-server==2.2.2", ["list_workbooks", "{}", "Path must be"])
        .arguments(&["stdio"]),
    Server::new(
        "word",
        "uvx:office-word-mcp-server==1.1.11",
        ["list_available_documents", r#"{"directory": "/tmp"}"#, "No Word documents"],
    )
    .runner(&["uvx", "--from", "office-word-mcp-server==1.1.11", "word_mcp_server"]),
    Server::new(
        "duckdb",
        "uvx:mcp-server-duckdb==1.1.0",
        ["query", r#"{"query": "select 6*7 as answer"}"#, "42"],
    )
    .flags(&["--data"])
    .runner(&["uvx", "--with", "mcp<2", "mcp-server-duckdb==1.1.0"])
    .arguments(&["--db-path", "{data}/test.duckdb"]),
    Server::new(
        "aws-documentation",
        "uvx:awslabs.aws-documentation-mcp-server==1.2.3",
        ["read_documentation", r#"{"url": "https://example.org/"}"#, "URL must be from list"],
    ),
    Server::new(
        "atlassian",
        "uvx:mcp-atlassian==0.23.1",
        ["jira_get_issue", r#"{"issue_key": "AB-1"}"#, "Could not connect to Jira"],
    )
    .flags(&[
        "--env",
        "JIRA_URL=https://jira.example",
        "--env",
        "JIRA_USERNAME=a@example.org",
        "--env",
        "JIRA_API_TOKEN=none",
    ]),
    Server::new(
        "blender",
        "uvx:blender-mcp==2.0.0",
        ["get_scene_info", "{}", "Could not connect to Blender"],
    ),
];
