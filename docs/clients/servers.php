<?php
$url = 'https://api.example.com/v1/servers';
$key = trim((string) getenv('SERVER_LISTING_KEY'));
if (!preg_match('/^svc_live_[0-9a-f]{64}$/D', $key))
    throw new RuntimeException('SERVER_LISTING_KEY must be svc_live_ and 64 hexadecimal digits');
$context = stream_context_create(['http' => [
    'header' => "Authorization: Bearer $key", 'timeout' => 10, 'ignore_errors' => true,
]]);
// The last list, outside the web root. The file's own time says when a page last asked.
$file = sys_get_temp_dir() . '/servers-' . substr(hash('sha256', $url . $key), 0, 32) . '.json';

function readKept(string $file): ?array {
    clearstatcache();
    $found = @lstat($file);
    // Other users can put a file there, too. Windows has a folder for each user, and no uid.
    $uid = function_exists('posix_geteuid') ? posix_geteuid() : 0;
    if (!$found || $found['uid'] !== $uid) return null;
    $kept = json_decode((string) @file_get_contents($file), true);
    if ($kept === null) return null;
    $kept['age'] = time() - $kept['time'];
    $asked = time() - $found['mtime'];
    $kept['fresh'] = $asked >= 0 && $asked < 10;
    return $kept['age'] >= 0 && $kept['age'] < 3600 ? $kept : null;
}

/** Renames a file of its own, so that no page sees half a list. Works without a list, too. */
function keep(string $file, array $servers): void {
    $own = tempnam(dirname($file), 'servers');
    $text = json_encode(['time' => time(), 'servers' => $servers]);
    if (@file_put_contents($own, $text) !== strlen($text) || !@rename($own, $file)) @unlink($own);
}

/** The servers and the age of the list in seconds. Asks every ten seconds at most. */
function loadServers(string $url, $context, string $file, bool $isRetry = false): array {
    $kept = readKept($file);
    if ($kept !== null && $kept['fresh']) return $kept;
    if ($kept !== null) @touch($file); // While this page asks, others use the kept list.
    $answer = @fopen($url, 'r', false, $context);
    $status = $answer ? (int) explode(' ', stream_get_meta_data($answer)['wrapper_data'][0])[1] : 0;
    if ($status === 200) {
        $servers = json_decode(stream_get_contents($answer), true)['servers'] ?? null;
        if ($servers === null) $status = 0; // half an answer
        else {
            keep($file, $servers);
            return ['servers' => $servers, 'age' => 0];
        }
    }
    if ($kept !== null && in_array($status, [0, 429, 502, 503])) return $kept;
    if ($status === 401) @unlink($file);
    if ($status === 429 && !$isRetry) {
        sleep(1);
        return loadServers($url, $context, $file, true);
    }
    throw new RuntimeException($status ? "The API answered $status" : 'The API does not answer');
}

['servers' => $servers, 'age' => $age] = loadServers($url, $context, $file);
// A page passes each text through htmlspecialchars().
foreach ($servers as $server) echo $server['name'], ' ', $server['address'], "\n";
if ($age >= 10) echo "This list is $age seconds old.\n";
