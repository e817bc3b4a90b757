import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { temporaryFolder } from './fixtures/folder.ts'

function databaseOf(environment: Record<string, string>) {
  const read = readConfig(environment)
  assert.ok('config' in read)
  return read.config.database
}

test('nothing has to be set to begin with', () => {
  assert.deepEqual(readConfig({}), {
    config: {
      database: { engine: 'sqlite', path: resolve('data/server-listing.db') },
      host: '127.0.0.1',
      port: 8080,
      baseUrl: 'http://127.0.0.1:8080',
      dashboardPort: 8081,
      dashboardUrl: 'http://127.0.0.1:8081',
      signUp: 'closed',
      authSecret: null,
      trustedProxies: [],
      logLevel: 'info',
    },
  })
})

test('the dashboard is configured, and a secret that will not do is not repeated', (t) => {
  const file = join(temporaryFolder(t), 'secret')
  writeFileSync(file, `${'s'.repeat(40)}\n`)
  const read = readConfig({
    DASHBOARD_PORT: '9000',
    DASHBOARD_URL: 'https://listing.example.com/',
    SIGN_UP: 'open',
    AUTH_SECRET_FILE: file,
    TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,fd00::/8',
  })
  assert.ok('config' in read)
  const { dashboardPort, dashboardUrl, signUp, authSecret, trustedProxies } = read.config
  assert.deepEqual(
    { dashboardPort, dashboardUrl, signUp, authSecret, trustedProxies },
    {
      dashboardPort: 9000,
      dashboardUrl: 'https://listing.example.com',
      signUp: 'open',
      authSecret: 's'.repeat(40),
      trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'],
    },
  )
  assert.deepEqual(
    readConfig({ SIGN_UP: 'maybe', AUTH_SECRET: 'hush', TRUSTED_PROXIES: '10.0.0.0/33' }),
    {
      complaints: [
        'SIGN_UP must be open or closed, not "maybe"',
        'AUTH_SECRET must have 32 characters or more',
        'TRUSTED_PROXIES must be addresses or networks such as 10.0.0.0/8, with commas between them, not "10.0.0.0/33"',
      ],
    },
  )
  writeFileSync(file, 'hush')
  const short = readConfig({ AUTH_SECRET_FILE: file })
  assert.ok('complaints' in short)
  assert.match(short.complaints.join(), /must have 32 characters or more$/)
})

test('everything wrong is said at once, with the value and what is wanted', () => {
  const read = readConfig({
    PORT: '80800',
    HOST: 'a b',
    LOG_LEVEL: 'loud',
    BASE_URL: 'example.com',
  })
  assert.deepEqual(read, {
    complaints: [
      'HOST must be an address or a host name to listen on, not "a b"',
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

test('a DATABASE_URL that names no usable database is a problem, and never repeated where it may hold a password', () => {
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
