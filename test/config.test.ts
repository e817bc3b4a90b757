import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { nameDatabase } from '../src/database-url.ts'
import { temporaryFolder } from './fixtures/folder.ts'

function databaseOf(environment: Record<string, string>) {
  const read = readConfig(environment)
  assert.ok('config' in read)
  return read.config.database
}

test('every setting has a default', () => {
  assert.deepEqual(readConfig({}), {
    config: {
      database: { engine: 'sqlite', path: resolve('data/server-listing.db') },
      host: '127.0.0.1',
      port: 8080,
      reusePort: false,
      baseUrl: null,
      dashboardPort: 8081,
      dashboardUrl: null,
      signUp: 'closed',
      operators: [],
      opsHost: '127.0.0.1',
      opsPort: 8082,
      trustedProxies: [],
      logLevel: 'info',
    },
  })
})

test("the dashboard's settings are read", () => {
  const read = readConfig({
    DASHBOARD_PORT: '9000',
    DASHBOARD_URL: 'https://listing.example.com/',
    SIGN_UP: 'open',
    OPERATORS: 'Ada@example.com, ops@example.com',
    TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,fd00::/8',
  })
  assert.ok('config' in read)
  const { dashboardPort, dashboardUrl, signUp, operators, trustedProxies } = read.config
  assert.deepEqual(
    { dashboardPort, dashboardUrl, signUp, operators, trustedProxies },
    {
      dashboardPort: 9000,
      dashboardUrl: 'https://listing.example.com',
      signUp: 'open',
      operators: ['ada@example.com', 'ops@example.com'],
      trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'],
    },
  )
  assert.deepEqual(
    readConfig({ SIGN_UP: 'maybe', OPERATORS: 'ada', TRUSTED_PROXIES: '10.0.0.0/33' }),
    {
      complaints: [
        'SIGN_UP must be open or closed, not "maybe"',
        'OPERATORS must be email addresses, separated by commas, not "ada"',
        'TRUSTED_PROXIES must be addresses or networks such as 10.0.0.0/8, separated by commas, not "10.0.0.0/33"',
      ],
    },
  )
})

test('only PostgreSQL allows several processes on one port', () => {
  const url = { DATABASE_URL: 'postgres://u@db/listing' }
  for (const [REUSE_PORT, expected] of Object.entries({ on: true, off: false, '': false })) {
    const read = readConfig({ ...url, REUSE_PORT })
    assert.ok('config' in read)
    assert.equal(read.config.reusePort, expected)
  }
  assert.deepEqual(readConfig({ ...url, REUSE_PORT: '1' }), {
    complaints: ['REUSE_PORT must be on or off, not "1"'],
  })
  assert.deepEqual(readConfig({ DATABASE_URL: 'sqlite:listing.db', REUSE_PORT: 'on' }), {
    complaints: ['REUSE_PORT must be off on SQLite, because only one process can serve a file'],
  })
})

test('the API, the dashboard and the health checks have ports of their own', () => {
  const complaints = ['DASHBOARD_PORT must differ from PORT, which is 8081']
  assert.deepEqual(readConfig({ PORT: '8081' }), { complaints })
  assert.deepEqual(readConfig({ PORT: '8081', DASHBOARD_PORT: '08081' }), { complaints })
  assert.deepEqual(readConfig({ OPS_PORT: '8080' }), {
    complaints: ['OPS_PORT must differ from PORT, which is 8080'],
  })
  assert.deepEqual(readConfig({ PORT: '9', DASHBOARD_PORT: '9', OPS_PORT: '9' }), {
    complaints: [
      'DASHBOARD_PORT must differ from PORT, which is 9',
      'OPS_PORT must differ from PORT, which is 9',
    ],
  })
  assert.deepEqual(readConfig({ DASHBOARD_PORT: '8082' }), {
    complaints: ['OPS_PORT must differ from DASHBOARD_PORT, which is 8082'],
  })
  assert.ok('config' in readConfig({ PORT: '0', DASHBOARD_PORT: '0', OPS_PORT: '0' }))
  assert.ok('config' in readConfig({ PORT: '8081', DASHBOARD_PORT: '8080' }))
})

test('AUTH_SECRET, which signed the cookies of earlier versions, is ignored', () => {
  assert.deepEqual(
    readConfig({ AUTH_SECRET: 'short', AUTH_SECRET_FILE: '/not/there' }),
    readConfig({}),
  )
})

test('all errors are reported at once, with the value and what is required', () => {
  const read = readConfig({
    PORT: '80800',
    HOST: 'a b',
    LOG_LEVEL: 'loud',
    BASE_URL: 'example.com',
  })
  assert.deepEqual(read, {
    complaints: [
      'HOST must be an IP address or a host name, not "a b"',
      'PORT must be a port from 0 to 65535, not "80800"',
      'BASE_URL must begin with http:// or https://, not "example.com"',
      'LOG_LEVEL must be one of debug, info, warn, error, silent, not "loud"',
    ],
  })
})

test('an SQLite URL names a file, relative or absolute', () => {
  for (const [url, path] of [
    ['sqlite:x.db', resolve('x.db')],
    ['sqlite:./a/x.db', resolve('a/x.db')],
    ['sqlite:/var/x.db', '/var/x.db'],
    ['sqlite:///var/x.db', '/var/x.db'],
    ['SQLITE:/var/x.db', '/var/x.db'],
  ] as const)
    assert.deepEqual(databaseOf({ DATABASE_URL: url }), { engine: 'sqlite', path })
})

test('an unusable DATABASE_URL is an error that never repeats a password', () => {
  for (const url of [
    'sqlite:',
    'sqlite:data/',
    'sqlite://host/x',
    'data.db',
    'mysql://u:secret@h/d',
    '::',
    'http://x',
  ])
    assert.equal(databaseOf({ DATABASE_URL: url }).engine, null, url)
  assert.doesNotMatch(
    JSON.stringify(databaseOf({ DATABASE_URL: 'mysql://u:secret@h/d' })),
    /secret/,
  )
})

test('production has no default database', () => {
  const database = databaseOf({ NODE_ENV: 'production' })
  assert.ok(database.engine === null)
  assert.match(database.problem, /^DATABASE_URL must be set in production/)
})

test('the URL can come from a file', (t) => {
  const file = join(temporaryFolder(t), 'url')
  writeFileSync(file, 'sqlite:/var/x.db\n')
  assert.deepEqual(databaseOf({ DATABASE_URL_FILE: file }), { engine: 'sqlite', path: '/var/x.db' })
  assert.equal(databaseOf({ DATABASE_URL_FILE: `${file}.missing` }).engine, null)
})

test('a message names a database by path, or by hosts and name without user and password', () => {
  for (const [url, name] of [
    ['sqlite:/var/x.db', '/var/x.db'],
    ['postgres://db.example.com/listing', 'db.example.com/listing'],
    ['postgres://u:secret@db:5433/listing?sslmode=require&password=secret', 'db:5433/listing'],
    ['postgresql://u:secret@[::1]:5433,db2/x%20y', '[::1]:5433,db2/x%20y'],
  ] as const) {
    const database = databaseOf({ DATABASE_URL: url })
    assert.ok(database.engine !== null)
    assert.equal(nameDatabase(database), name)
  }
})
