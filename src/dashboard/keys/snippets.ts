/** The environment variable that all snippets read, so that no program contains the key. */
export const KEY_VARIABLE = 'SERVER_LISTING_KEY'

export interface Snippet {
  /** The id of the snippet's element. */
  id: string
  label: string
  code: string
}

/** A client in each language. After a 429 each waits, and it gives up after five attempts. */
export function snippetsFor(baseUrl: string): Snippet[] {
  // Parsed and escaped, so that it can't end a string of any language.
  const url = new URL(`${baseUrl}/v1/servers`).href.replaceAll("'", '%27').replaceAll('$', '%24')
  return [
    { id: 'curl', label: 'curl', code: curl(url) },
    { id: 'javascript', label: 'JavaScript', code: javaScript(url) },
    { id: 'python', label: 'Python', code: python(url) },
    { id: 'php', label: 'PHP', code: php(url) },
    { id: 'powershell', label: 'PowerShell', code: powerShell(url) },
  ]
}

/** `--retry` waits as long as Retry-After says. */
function curl(url: string): string {
  return `curl -fsS --retry 4 -H "Authorization: Bearer $${KEY_VARIABLE}" '${url}'`
}

/** With the package in client/, which waits after a 429 by itself. */
function javaScript(url: string): string {
  const baseUrl = url.replace(/\/v1\/servers$/, '')
  // The client asks for consent before it sends a key over plain HTTP to another host.
  const isInsecure = /^http:\/\/(?!localhost\b|127\.|\[::1\])/.test(baseUrl)
  return `// npm install server-listing-client
import { ServerListingClient } from 'server-listing-client'

const client = new ServerListingClient({
  baseUrl: '${baseUrl}',${isInsecure ? '\n  allowInsecureHttp: true,' : ''}
  apiKey: process.env.${KEY_VARIABLE},
})
for (const server of await client.listServers()) console.log(server.name, server.address)`
}

function python(url: string): string {
  return `import json, os, time, urllib.error, urllib.request

def load_servers():
    headers = {"Authorization": "Bearer " + os.environ["${KEY_VARIABLE}"]}
    request = urllib.request.Request("${url}", headers=headers)
    for attempt in range(5):
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)["servers"]
        except urllib.error.HTTPError as error:
            if error.code != 429:
                raise
            time.sleep(max(1, int(error.headers["Retry-After"])))
    raise RuntimeError("Still rate-limited")

for server in load_servers():
    print(server["name"], server["address"])`
}

/** Without the curl extension, which Debian's PHP has in a package of its own. */
function php(url: string): string {
  return `<?php
function loadServers(): array {
    $header = 'Authorization: Bearer ' . getenv('${KEY_VARIABLE}');
    $context = stream_context_create(['http' => ['header' => $header, 'ignore_errors' => true]]);
    for ($attempt = 0; $attempt < 5; $attempt++) {
        $answer = fopen('${url}', 'r', false, $context);
        if ($answer === false) throw new RuntimeException('The API does not answer');
        $headers = stream_get_meta_data($answer)['wrapper_data'];
        $status = (int) explode(' ', $headers[0])[1];
        if ($status === 200) return json_decode(stream_get_contents($answer), true)['servers'];
        if ($status !== 429) throw new RuntimeException("The API answered $status");
        $waits = preg_grep('/^Retry-After:/i', $headers);
        sleep(max(1, (int) explode(':', end($waits))[1]));
    }
    throw new RuntimeException('Still rate-limited');
}

foreach (loadServers() as $server) echo $server['name'], ' ', $server['address'], "\\n";`
}

/** `-MaximumRetryCount` waits as long as Retry-After says. Windows PowerShell 5 lacks it. */
function powerShell(url: string): string {
  return `# PowerShell 7
$headers = @{ Authorization = "Bearer $env:${KEY_VARIABLE}" }
$answer = Invoke-RestMethod '${url}' -Headers $headers -MaximumRetryCount 4 -RetryIntervalSec 1
$answer.servers | Format-Table name, address`
}
