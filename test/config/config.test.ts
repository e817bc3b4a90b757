import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { withSettings } from '../../scripts/settings-table.ts'
import { readConfig } from '../../src/config/config.ts'
import { NAMED_SETTINGS } from '../../src/config/settings.ts'

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
      siteUrl: null,
      publicPages: false,
      siteName: null,
      serversElsewhere: false,
      contact: null,
      signUp: 'closed',
      passwords: true,
      oidc: null,
      operators: [],
      opsHost: '127.0.0.1',
      opsPort: 8082,
      management: null,
      drainSeconds: 0,
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
})

test('SITE_URL or PUBLIC_PAGES=1 turns public pages on, and PUBLIC_PAGES=0 off', () => {
  const SITE_URL = 'https://example.com/minecraft/'
  for (const [environment, expected] of [
    [{}, [null, false]],
    [{ SITE_URL: '', PUBLIC_PAGES: '' }, [null, false]],
    [{ PUBLIC_PAGES: '0' }, [null, false]],
    [{ PUBLIC_PAGES: '1' }, [null, true]],
    [{ SITE_URL }, ['https://example.com/minecraft', true]],
    [{ SITE_URL, PUBLIC_PAGES: '1' }, ['https://example.com/minecraft', true]],
    [{ SITE_URL, PUBLIC_PAGES: '0' }, ['https://example.com/minecraft', false]],
  ] as const) {
    const read = readConfig(environment)
    assert.ok('config' in read)
    assert.deepEqual([read.config.siteUrl, read.config.publicPages], expected)
  }
  for (const [environment, complaint] of [
    [{ PUBLIC_PAGES: 'on' }, 'PUBLIC_PAGES must be 1 or 0, not "on"'],
    [
      { SITE_URL: 'example.com' },
      'SITE_URL must begin with http:// or https://, not "example.com"',
    ],
    [
      { SITE_URL: 'https://u:p@example.com/?q' },
      'SITE_URL must have no user, password, query or fragment, not "https://…@example.com/?…"',
    ],
  ] as const)
    assert.deepEqual(readConfig(environment), { complaints: [complaint] })
})

test('SERVERS=elsewhere needs the site that the dashboard links to', () => {
  const read = readConfig({ SERVERS: 'elsewhere', SITE_URL: 'https://example.com' })
  assert.ok('config' in read && read.config.serversElsewhere)
  for (const [environment, complaint] of [
    [{ SERVERS: 'there' }, 'SERVERS must be here or elsewhere, not "there"'],
    [
      { SERVERS: 'elsewhere' },
      'SERVERS is elsewhere, so SITE_URL must be set: the dashboard links to it',
    ],
  ] as const)
    assert.deepEqual(readConfig(environment), { complaints: [complaint] })
})

test('SITE_NAME is a line of visible characters', () => {
  for (const SITE_NAME of [
    'Example',
    'Blöcke & <b>Welten</b>',
    '게임 서버',
    'کتاب‌خانه',
    '🏴‍☠️',
    'x'.repeat(40),
  ]) {
    const read = readConfig({ SITE_NAME })
    assert.ok('config' in read, SITE_NAME)
    assert.equal(read.config.siteName, SITE_NAME)
  }
  for (const [SITE_NAME, complaint] of [
    ['x'.repeat(41), `have 1 to 40 characters, not 41, not "${'x'.repeat(41)}"`],
    ['\u2800', String.raw`have a character that can be seen, not "\u{2800}"`],
    ['Exam\u200bple', String.raw`have no invisible characters, not "Exam\u{200b}ple"`],
    ['\u202eelpmaxE', String.raw`have no invisible characters, not "\u{202e}elpmaxE"`],
  ] as const)
    assert.deepEqual(readConfig({ SITE_NAME }), { complaints: [`SITE_NAME must ${complaint}`] })
})

test('CONTACT is a mailto: address or an https URL', () => {
  for (const CONTACT of [
    'mailto:ops@example.com',
    'https://example.com/help?topic=listing#ask',
    'https://discord.gg/example',
  ]) {
    const read = readConfig({ CONTACT })
    assert.ok('config' in read, CONTACT)
    assert.equal(read.config.contact, CONTACT)
  }
  const either = 'be mailto: with an email address, or begin with https://'
  for (const [CONTACT, complaint, shown] of [
    ['ops@example.com', either, 'ops@example.com'],
    ['http://example.com', either, 'http://example.com'],
    ['javascript:alert(1)', either, 'javascript:alert(1)'],
    ['https://', either, 'https://'],
    ['https://example.com/a b', either, 'https://example.com/a b'],
    ['mailto:', 'have one email address behind mailto:', 'mailto:'],
    [
      'mailto:a@b.example,c@d.example',
      'have one email address behind mailto:',
      'mailto:…@d.example',
    ],
    [
      'mailto:a@b.example?cc=c@d.example',
      'have one email address behind mailto:',
      'mailto:…@d.example',
    ],
    ['https://u:p@example.com/', 'have no user and no password', 'https://…@example.com/'],
    [
      `https://example.com/${'x'.repeat(200)}`,
      'have at most 100 characters',
      `https://example.com/${'x'.repeat(56)}…`,
    ],
  ] as const)
    assert.deepEqual(readConfig({ CONTACT }), {
      complaints: [`CONTACT must ${complaint}, not "${shown}${shown.endsWith('…') ? '' : '"'}`],
    })
})

test('a message about an odd URL never has what can be a secret of it', () => {
  for (const [BASE_URL, shown] of [
    ['https://u:hunter2@h/x', 'https://…@h/x'],
    ['https://hunter2@h/x', 'https://…@h/x'],
    ['https://u:hun/ter2@x/hunter2@h/x', 'https://…@h/x'],
    ['https://h/?token=hunter2', 'https://h/?…'],
    ['https://h/#hunter2', 'https://h/#…'],
    ['u:hunter2@h', 'u:…@h'],
  ] as const) {
    const read = readConfig({ BASE_URL })
    assert.ok('complaints' in read)
    assert.match(read.complaints[0]!, /^BASE_URL must .*, not "/)
    assert.ok(read.complaints[0]!.endsWith(`not "${shown}"`), read.complaints[0])
  }
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

test('draining takes no time unless an operator sets it, and at most a minute', () => {
  for (const [DRAIN_SECONDS, expected] of Object.entries({ '': 0, 5: 5, 60: 60 })) {
    const read = readConfig({ DRAIN_SECONDS })
    assert.ok('config' in read)
    assert.equal(read.config.drainSeconds, expected)
  }
  for (const DRAIN_SECONDS of ['61', '-1', '1.5', '5s'])
    assert.deepEqual(readConfig({ DRAIN_SECONDS }), {
      complaints: [
        `DRAIN_SECONDS must be a number of seconds from 0 to 60, not "${DRAIN_SECONDS}"`,
      ],
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

test('two addresses of a machine can have one port each', () => {
  const ports = { PORT: '9', OPS_PORT: '9' }
  for (const host of ['10.0.0.1', '::1'])
    assert.ok('config' in readConfig({ HOST: host, OPS_HOST: '127.0.0.1', ...ports }))
  const complaints = ['OPS_PORT must differ from PORT, which is 9']
  for (const [HOST, OPS_HOST] of [
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['127.0.0.1', '::'],
    ['localhost', '127.0.0.1'],
  ] as const)
    assert.deepEqual(readConfig({ HOST, OPS_HOST, ...ports }), { complaints })
})

test('the table of settings in README.md is that of the program', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  assert.equal(readme, withSettings(readme), 'run `npm run settings`')
  for (const [name] of NAMED_SETTINGS) assert.ok(readme.includes(`\n| \`${name}\` | `), name)
})

test('AUTH_SECRET, which signed the cookies of earlier versions, is ignored', () => {
  assert.deepEqual(
    readConfig({ AUTH_SECRET: 'short', AUTH_SECRET_FILE: '/not/there' }),
    readConfig({}),
  )
})
