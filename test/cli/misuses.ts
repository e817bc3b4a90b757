/** A wrong use of a command, with its exit code and its sentence. */
export interface Misuse {
  args: string | readonly string[]
  env?: Record<string, string>
  stdin?: string
  code: 1 | 2
  sentence: RegExp
}

const ADA = '--user ada@example.com'
const KEY = `svc_live_${'ab'.repeat(32)}`
const stateWith = (key: string) =>
  `{"format_version":1,"users":[{"email":"ada@example.com","keys":[{${key}}]}]}`
const inEnvironment = (env: Record<string, string>, sentence: RegExp, code: 1 | 2 = 2): Misuse => ({
  args: 'user list',
  env,
  code,
  sentence,
})

const COMMAND_LINES: Misuse[] = [
  { args: 'usr list', code: 2, sentence: /unknown command 'usr'\s+.*Did you mean user\?/ },
  { args: 'user lst', code: 2, sentence: /unknown command 'lst'\s+.*Did you mean list\?/ },
  {
    args: 'user list --jsn',
    code: 2,
    sentence: /unknown option '--jsn'\s+.*Did you mean --json\?/,
  },
  { args: 'user list surplus', code: 2, sentence: /Expected 0 arguments but got 1: surplus/ },
  { args: 'user add', code: 2, sentence: /<email> or --external-id <id> is missing/ },
  { args: 'user disable', code: 2, sentence: /<email> or --external-id <id> is missing/ },
  { args: 'user email ada@example.com', code: 2, sentence: /needs the old and the new email/ },
  {
    args: 'user email --external-id 1 a@example.com b@example.com',
    code: 2,
    sentence: /the new one/,
  },
  { args: 'user add --external-id 1 --password-stdin', code: 2, sentence: /needs an <email>/ },
  {
    args: 'key issue --name bot',
    code: 2,
    sentence: /--user <email> or --external-id <id> is missing/,
  },
  { args: `key issue ${ADA}`, code: 2, sentence: /--name <name> is missing/ },
  // An empty variable in a script must not widen the list to all users.
  { args: ['server', 'list', '--user', ''], code: 2, sentence: /email address/ },
  { args: ['key', 'list', '--user', ''], code: 2, sentence: /email address/ },
  { args: ['audit', 'list', '--user', ''], code: 2, sentence: /email address/ },
  ...['key', 'server', 'audit'].map((noun) => ({
    args: [noun, 'list', '--external-id', ''],
    code: 2 as const,
    sentence: /an external id must have 1 to 255 characters, not 0/,
  })),
  {
    args: `key list ${ADA} --external-id 4711`,
    code: 2,
    sentence: /--user <email> is "ada@example\.com" and --external-id is "4711"\. Name the user by/,
  },
  { args: `server list ${ADA} --user bob@example.com`, code: 2, sentence: /--user .*once/ },
  { args: `key list ${ADA} --user bob@example.com`, code: 2, sentence: /--user .*once/ },
  { args: 'server list ada@example.com', code: 2, sentence: /Expected 0 arguments but got 1/ },
  { args: 'key list --user', code: 2, sentence: /'--user <email>' argument missing/ },
  { args: 'user list --env-file no.env', code: 2, sentence: /cannot read the file "no\.env"/ },
  { args: `key list --unused-for soon`, code: 2, sentence: /--unused-for must be days or hours/ },
  { args: 'audit list --since soon', code: 2, sentence: /--since must be an instant .*"soon"/ },
  { args: 'audit list --limit 0', code: 2, sentence: /--limit must be a number from 1/ },
  {
    args: 'user link ada@example.com --hours 73',
    code: 2,
    sentence: /--hours must be a number from 1 to 72, not "73"/,
  },
  {
    args: 'health --wait -1',
    code: 2,
    sentence: /--wait must be a number from 0 to 3600, not "-1"/,
  },
  { args: 'doctor surplus', code: 2, sentence: /Expected 0 arguments but got 1: surplus/ },
  { args: 'doctor', env: { PORT: '70000' }, code: 2, sentence: /PORT must be a port/ },
  { args: 'conform', code: 2, sentence: /missing required argument 'base_url'/ },
  { args: 'conform http://x', code: 2, sentence: /--key-file <file> is missing/ },
  { args: 'conform example.com --key-file -', code: 2, sentence: /must be a URL with http:/ },
  { args: 'conform http://x --report xml', code: 2, sentence: /must be text, json or junit, not/ },
  { args: 'config surplus', code: 2, sentence: /Expected 0 arguments but got 1: surplus/ },
  { args: 'config --port 80800', code: 2, sentence: /--port must be a port from 0 to 65535/ },
  { args: 'user remove ada@example.com', code: 2, sentence: /nothing was changed.*--yes/ },
]

const ENVIRONMENTS: Misuse[] = [
  inEnvironment({ PORT: '70000' }, /PORT must be a port from 0 to 65535, not "70000"/),
  inEnvironment({ PORT: '8081' }, /DASHBOARD_PORT must differ from PORT, which is 8081/),
  inEnvironment({ OPS_PORT: '8081' }, /OPS_PORT must differ from DASHBOARD_PORT, which is 8081/),
  inEnvironment({ HOST: 'a b' }, /HOST must be an IP address or a host name, not "a b"/),
  inEnvironment({ LOG_LEVEL: 'loud' }, /LOG_LEVEL must be one of debug, .*, not "loud"/),
  inEnvironment({ SIGN_UP: 'yes' }, /SIGN_UP must be open or closed, not "yes"/),
  inEnvironment({ TRUSTED_PROXIES: '10.0.0.0/99' }, /TRUSTED_PROXIES must be addresses/),
  inEnvironment({ OPERATORS: 'ada' }, /OPERATORS must be email addresses/),
  inEnvironment({ BASE_URL: 'example.com' }, /BASE_URL must begin with http:\/\/ or https:/),
  inEnvironment(
    { BASE_URL: 'https://u:hunter2@h/x?y=1#z' },
    /BASE_URL must have no user, password, query or fragment, not "https:\/\/…@h\/x/,
  ),
  inEnvironment({ DASHBOARD_URL: 'https://x/listing' }, /DASHBOARD_URL must have no path/),
  inEnvironment({ DATABASE_URL: 'mysql://u:hunter2@h/d' }, /begin with sqlite: .*"mysql"/),
  inEnvironment({ DATABASE_URL: 'sqlite:' }, /DATABASE_URL must name a file/),
  inEnvironment({ DATABASE_URL: 'sqlite::memory:' }, /DATABASE_URL must name a file/),
  inEnvironment({ DATABASE_URL: 'postgres://u:hunter2@h' }, /must look like postgres:\/\/USER/),
  inEnvironment({ DATABASE_URL: 'postgres://u:hun/ter2@h/d' }, /must look like postgres:\/\/USER/),
  inEnvironment({ DATABASE_URL: 'postgres://u:hunter2@h/d?sslmod=x' }, /parameter "sslmod"; the/),
  inEnvironment({ DATABASE_URL: 'postgres://u:hunter2@h/d?sslmode=x' }, /as sslmode, not "x"/),
  inEnvironment({ DATABASE_URL_FILE: '/tmp/url' }, /DATABASE_URL and DATABASE_URL_FILE are both/),
  inEnvironment({ DATABASE_URL: '', NODE_ENV: 'production' }, /DATABASE_URL must be set in prod/),
  { args: 'config', env: { DATABASE_URL: 'sqlite:' }, code: 2, sentence: /must name a file/ },
  inEnvironment({ DATABASE_URL: 'sqlite:no.db' }, /no database file .*no\.db.*migrate/, 1),
  inEnvironment({ DATABASE_URL: 'sqlite:/dev/null' }, /\/dev\/null: .*not a regular file/, 1),
  inEnvironment({ DATABASE_URL: 'sqlite:/tmp' }, /\/tmp: it is a folder/, 1),
  inEnvironment(
    { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/d' },
    /cannot reach .*: no server listens on port 1 of 127\.0\.0\.1\. Is PostgreSQL running\?/,
    1,
  ),
  inEnvironment(
    { DATABASE_URL: 'postgres://u:hunter2@no-such-host.invalid/d' },
    /cannot reach .*: the host name no-such-host\.invalid (is unknown|cannot be looked up)/,
    1,
  ),
]

const VALUES: Misuse[] = [
  { args: 'user add ada', code: 2, sentence: /must look like name@example\.com, not "ada"/ },
  { args: 'user add ADA@example.com', code: 1, sentence: /ada@example\.com: .* already exists/ },
  {
    args: 'user password ada@example.com',
    stdin: 'short',
    code: 2,
    sentence: /password on standard input must have 10 to 128 characters, not 5/,
  },
  { args: 'user link eve@example.com', code: 1, sentence: /no user eve@example\.com in / },
  { args: 'user remove eve@example.com', code: 1, sentence: /no user eve@example\.com in / },
  {
    args: 'user disable --external-id 4711',
    code: 1,
    sentence:
      /no user with the external id "4711" in .*`server-listing user add --external-id "4711"`/,
  },
  {
    args: ['key', 'issue', ...ADA.split(' '), '--name', ''],
    code: 2,
    sentence: /name must have 1 to 64 characters, not 0/,
  },
  {
    args: ['key', 'issue', ...ADA.split(' '), '--name', 'two\nlines'],
    code: 2,
    sentence: /no control characters/,
  },
  { args: `key revoke ${ADA} no-id`, code: 1, sentence: /has no key with the id "no-id"/ },
  { args: `key revoke ${ADA} ${KEY}`, code: 2, sentence: /is a key, not the id.*--key-stdin/ },
  { args: 'key revoke --key-stdin', code: 2, sentence: /standard input is empty/ },
  { args: 'key revoke --key-stdin', stdin: KEY, code: 1, sentence: /not an API key of this/ },
  { args: `server import ${ADA} no.json`, code: 1, sentence: /"no\.json": no such file/ },
  { args: `server import ${ADA} /tmp`, code: 1, sentence: /"\/tmp": it is a directory/ },
  { args: `server import ${ADA} -`, stdin: '[{', code: 1, sentence: /input is not JSON/ },
  { args: `server import ${ADA} -`, stdin: '[7]', code: 1, sentence: /entry 1: must be an obj/ },
  { args: `server import ${ADA} --organization A -`, code: 2, sentence: /--organization can/ },
  { args: `server remove ${ADA} no-id`, code: 1, sentence: /no server with the id "no-id"/ },
  { args: `key import ${ADA}`, code: 2, sentence: /--hash-file <file> is missing/ },
  { args: `key import ${ADA} --hash-file no.csv`, code: 1, sentence: /"no\.csv": no such file/ },
  { args: `key import ${ADA} --hash-file -`, stdin: 'x', code: 1, sentence: /is not JSON/ },
  {
    args: `key import ${ADA} --hash-file -`,
    stdin: `key_hash,name\n${KEY},bot\n`,
    code: 1,
    sentence: /row 2\.key_hash: has an API key in clear/,
  },
  {
    args: 'key import --user eve@example.com --hash-file -',
    stdin: '[]',
    code: 1,
    sentence: /no user eve@example\.com in /,
  },
  { args: 'apply', code: 2, sentence: /missing required argument 'file'/ },
  { args: 'apply no.json', code: 1, sentence: /"no\.json": no such file/ },
  { args: 'apply -', stdin: '[{', code: 1, sentence: /nothing was changed: .* is not JSON/ },
  { args: 'apply -', stdin: '7', code: 1, sentence: /the file: must be an object, not 7/ },
  { args: 'apply -', stdin: '{}', code: 1, sentence: /format_version: is missing/ },
  { args: 'apply -', stdin: stateWith(`"name":"bot"`), code: 1, sentence: /key_hash: is missing/ },
  {
    args: 'apply -',
    stdin: stateWith(`"name":"bot","key_hash":"${KEY}"`),
    code: 1,
    sentence: /users\[0\]\.keys\[0\]\.key_hash: has an API key in clear/,
  },
  { args: 'export surplus', code: 2, sentence: /Expected 0 arguments but got 1: surplus/ },
  {
    args: 'conform http://127.0.0.1:1 --key-file -',
    stdin: `${KEY} ${KEY}`,
    code: 2,
    sentence: /--key-file must name a file with one API key .*; this one has 147 characters/,
  },
  {
    args: 'conform http://127.0.0.1:1 --key-file -',
    stdin: `${KEY}\n`,
    code: 1,
    sentence: /cannot reach http:\/\/127\.0\.0\.1:1: no program listens there/,
  },
]

export const MISUSES = [...COMMAND_LINES, ...ENVIRONMENTS, ...VALUES]
