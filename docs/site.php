<?php
// Hands a user of your site and the user's servers to the service: php site.php
// MANAGEMENT_URL is the address of the management API, MANAGEMENT_TOKEN_FILE a file with a token.
declare(strict_types=1);

/** Asks the management API. An attempt beyond the first one is for acts only. */
function ask(string $method, string $path, ?array $body = null, int $attempts = 1): array
{
    $token = trim((string) file_get_contents((string) getenv('MANAGEMENT_TOKEN_FILE')));
    $context = stream_context_create(['http' => [
        'method' => $method,
        'header' => ["Authorization: Bearer $token", 'Content-Type: application/json'],
        'content' => $body === null ? '' : json_encode($body, JSON_THROW_ON_ERROR),
        'timeout' => 10, 'ignore_errors' => true,
    ]]);
    $url = rtrim((string) getenv('MANAGEMENT_URL'), '/') . $path;
    for ($attempt = 1;; $attempt++) {
        $stream = @fopen($url, 'r', false, $context);
        $text = $stream ? (string) stream_get_contents($stream) : '';
        $head = $stream ? stream_get_meta_data($stream)['wrapper_data'][0] : '';
        $status = (int) (explode(' ', $head)[1] ?? 0);
        $answer = json_decode($text, true);
        if ($status >= 200 && $status < 300 && is_array($answer)) return $answer;
        if ($attempt >= $attempts || !in_array($status, [0, 200, 429, 502, 503], true))
            throw new RuntimeException($status === 0 ? 'no answer' : "$status $text");
        sleep(2 ** ($attempt - 1));
    }
}

/** Performs a document of acts in one transaction. The same document again changes nothing. */
function perform(array $document): array
{
    $answer = ask('POST', '/v1/acts', $document, 5);
    foreach ($answer as $act => $result)
        foreach ($result['refused'] as $row) error_log("$act: " . json_encode($row));
    return $answer;
}

/** The user as your site has it, with all servers. Call it after each change of either. */
function putUser(array $user, array $servers): array
{
    $owner = ['external_id' => $user['external_id']];
    return perform([
        'put_users' => [$user],
        'put_servers' => array_map(fn (array $server) => $server + $owner, $servers),
        'all_servers_of' => [$owner],
    ]);
}

function removeUser(string $id): array
{
    return perform(['remove_users' => [['external_id' => $id]]]);
}

/** Makes a key. The answer has it, and no later answer does. */
function issueKey(string $id, string $name): array
{
    return ask('POST', '/v1/users/' . rawurlencode($id) . '/keys', ['name' => $name]);
}

/** The address of a page that signs the user in. Redirect the user's browser to it at once. */
function signInLink(string $id): string
{
    return ask('POST', '/v1/users/' . rawurlencode($id) . '/sign-in-link')['url'];
}

$eve = ['external_id' => '4711', 'email' => 'eve@example.com', 'banned_at' => null];
$game = ['id' => sprintf('00000000-0000-8000-8001-%012x', 42), 'name' => 'Survival',
    'address' => 'play.example.com', 'version' => '1.21.4'];
echo json_encode(putUser($eve, [$game])), "\n";
