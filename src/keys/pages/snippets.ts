/** The environment variable that all snippets read, so that no program contains the key. */
export const KEY_VARIABLE = 'SERVER_LISTING_KEY'

/** What a reader pastes into a shell, or saves under the name of the file. */
export interface Block {
  /** The id of the block's element. */
  id: string
  label: string
  code: string
  file?: string
}

/** The blocks of one language or shell, in the order in which a reader pastes them. */
export interface Snippet {
  label: string
  blocks: Block[]
  /** Another last command, for a reader who has the key in `.env`. */
  withEnvFile?: string
}

const ENV_FILE = '.env'
const RULE = `${KEY_VARIABLE} must be svc_live_ and 64 hexadecimal digits`
const PATTERN = 'svc_live_[0-9a-f]{64}'

/** How to set the variable in each shell and in a file. */
export function keySettingsFor(key: string): Snippet[] {
  const line = `${KEY_VARIABLE}=${key}`
  return [
    {
      label: 'Linux and macOS',
      blocks: [{ id: 'export', label: 'Shell line', code: `export ${line}` }],
    },
    {
      label: 'Windows (PowerShell)',
      blocks: [{ id: 'set', label: 'PowerShell line', code: `$env:${KEY_VARIABLE} = '${key}'` }],
    },
    {
      label: `A file ${ENV_FILE}`,
      blocks: [
        { id: 'env', label: ENV_FILE, file: ENV_FILE, code: line },
        { id: 'env-load', label: 'Load it into a shell', code: `set -a; . ./${ENV_FILE}; set +a` },
      ],
    },
  ]
}

/**
 * A client in each language. Each checks the key before it sends it, because an HTTP library may
 * print a header that it refuses. Each waits after a 429, 502 or 503 and asks at most five times.
 */
export function snippetsFor(baseUrl: string): Snippet[] {
  // Parsed and escaped, so that it can't end a string of any language.
  const url = new URL(`${baseUrl}/v1/servers`).href.replaceAll("'", '%27').replaceAll('$', '%24')
  return [
    { label: 'curl', blocks: [{ id: 'curl', label: 'Shell command', code: curl(url) }] },
    {
      ...program('javascript', 'JavaScript', 'servers.mjs', javaScript(url), 'node'),
      withEnvFile: `node --env-file=${ENV_FILE} servers.mjs`,
    },
    program('python', 'Python', 'servers.py', python(url), 'python3'),
    program('php', 'PHP', 'servers.php', php(url), 'php'),
    {
      label: 'PowerShell',
      blocks: [{ id: 'powershell', label: 'PowerShell 7', code: powerShell(url) }],
    },
  ]
}

function program(id: string, label: string, file: string, code: string, runner: string): Snippet {
  const command = `${runner} ${file}`
  return {
    label,
    blocks: [
      { id, label: file, file, code },
      { id: `${id}-run`, label: `Run ${file}`, code: command },
    ],
  }
}

/** The key is on standard input, because other users of the machine can see arguments. */
function curl(url: string): string {
  return `if key=$(printf %s "$${KEY_VARIABLE}" | tr -d '[:space:]' | grep -Ex '${PATTERN}'); then
  printf 'Authorization: Bearer %s\\n' "$key" |
    curl --fail --silent --show-error --max-time 10 --retry 4 --header @- '${url}'
else
  echo '${RULE}' >&2
fi`
}

function javaScript(url: string): string {
  return `const key = (process.env.${KEY_VARIABLE} ?? '').trim()
if (!/^${PATTERN}$/.test(key)) throw new Error('${RULE}')

async function loadServers() {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch('${url}', {
      headers: { Authorization: \`Bearer \${key}\` },
      signal: AbortSignal.timeout(10_000),
    })
    if (answer.ok) return (await answer.json()).servers
    if (attempt === 5 || ![429, 502, 503].includes(answer.status))
      throw new Error(\`The API answered \${answer.status}\`)
    const seconds = Math.max(2 ** (attempt - 1), Number(answer.headers.get('Retry-After')) || 0)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }
}

for (const server of await loadServers()) console.log(server.name, server.address)`
}

function python(url: string): string {
  return `import json, os, re, sys, time, urllib.error, urllib.request

key = os.environ.get("${KEY_VARIABLE}", "").strip()
if not re.fullmatch("${PATTERN}", key):
    sys.exit("${RULE}")

def load_servers():
    request = urllib.request.Request("${url}", headers={"Authorization": "Bearer " + key})
    for attempt in range(5):
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)["servers"]
        except urllib.error.HTTPError as error:
            if error.code not in (429, 502, 503) or attempt == 4:
                raise
            wait = error.headers.get("Retry-After", "")
        time.sleep(max(2**attempt, int(wait) if wait.isdigit() else 0))

for server in load_servers():
    print(server["name"], server["address"])`
}

/** Without the curl extension, which Debian's PHP has in a package of its own. */
function php(url: string): string {
  return `<?php
$key = trim((string) getenv('${KEY_VARIABLE}'));
if (!preg_match('/^${PATTERN}$/D', $key)) {
    fwrite(STDERR, "${RULE}\\n");
    exit(1);
}
$context = stream_context_create(['http' => [
    'header' => "Authorization: Bearer $key", 'timeout' => 10, 'ignore_errors' => true,
]]);

function loadServers($context): array {
    for ($attempt = 1; ; $attempt++) {
        $answer = fopen('${url}', 'r', false, $context);
        if ($answer === false) throw new RuntimeException('The API does not answer');
        $headers = stream_get_meta_data($answer)['wrapper_data'];
        $status = (int) explode(' ', $headers[0])[1];
        if ($status === 200) return json_decode(stream_get_contents($answer), true)['servers'];
        if ($attempt === 5 || !in_array($status, [429, 502, 503]))
            throw new RuntimeException("The API answered $status");
        $waits = preg_grep('/^Retry-After:/i', $headers);
        $wait = $waits ? (int) explode(':', end($waits))[1] : 0;
        sleep(max(2 ** ($attempt - 1), $wait));
    }
}

foreach (loadServers($context) as $server) echo $server['name'], ' ', $server['address'], "\\n";`
}

/** `-MaximumRetryCount` waits as long as Retry-After says. Windows PowerShell 5 lacks it. */
function powerShell(url: string): string {
  return `$key = "$env:${KEY_VARIABLE}".Trim()
if ($key -cmatch '^${PATTERN}$') {
  $headers = @{ Authorization = "Bearer $key" }
  $answer = Invoke-RestMethod '${url}' -Headers $headers -TimeoutSec 10 -MaximumRetryCount 4 -RetryIntervalSec 1
  $answer.servers | Format-Table name, address
} else {
  Write-Error '${RULE}'
}`
}
