import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { commandsIn } from '../cli/command.ts'
import { temporaryFolder } from '../fixtures/folder.ts'

const SET = {
  OIDC_ISSUER: 'https://id.example.com/realms/site',
  OIDC_CLIENT_ID: 'listing',
  OIDC_CLIENT_SECRET: 'a secret',
  DASHBOARD_URL: 'https://dashboard.example.com',
}

function complaintsAbout(environment: Record<string, string>): readonly string[] {
  const read = readConfig({ ...SET, ...environment })
  return 'complaints' in read ? read.complaints : []
}

test('the settings of an identity provider are read, and its secret also from a file', (t) => {
  const read = readConfig(SET)
  assert.ok('config' in read)
  assert.equal(read.config.passwords, true)
  assert.deepEqual(read.config.oidc, {
    issuer: SET.OIDC_ISSUER,
    clientId: 'listing',
    clientSecret: 'a secret',
    name: 'id.example.com',
    signUp: 'closed',
    operatorGroup: null,
    isAutomatic: false,
  })

  const file = join(temporaryFolder(t), 'secret')
  writeFileSync(file, 'from a file\n')
  const all = readConfig({
    ...SET,
    OIDC_CLIENT_SECRET: '',
    OIDC_CLIENT_SECRET_FILE: file,
    OIDC_NAME: 'Example Servers',
    OIDC_SIGN_UP: 'open',
    OIDC_OPERATOR_GROUP: 'operators',
    OIDC_AUTO: '1',
    PASSWORDS: 'off',
  })
  assert.ok('config' in all)
  assert.equal(all.config.passwords, false)
  assert.deepEqual(all.config.oidc, {
    issuer: SET.OIDC_ISSUER,
    clientId: 'listing',
    clientSecret: 'from a file',
    name: 'Example Servers',
    signUp: 'open',
    operatorGroup: 'operators',
    isAutomatic: true,
  })
})

test('an issuer keeps the slash at its end', () => {
  const issuer = 'https://id.example.com/application/o/listing/'
  const read = readConfig({ ...SET, OIDC_ISSUER: issuer })
  assert.equal('config' in read && read.config.oidc?.issuer, issuer)
})

test('an issuer has at most 255 characters, which an index stores with a subject', () => {
  const issuer = `https://id.example.com/${'ü'.repeat(232)}`
  assert.equal(issuer.length, 255)
  assert.deepEqual(complaintsAbout({ OIDC_ISSUER: issuer }), [])
  assert.match(
    complaintsAbout({ OIDC_ISSUER: `${issuer}/` }).join(),
    /^OIDC_ISSUER must have at most 255 characters, not "https:/,
  )
})

test('the issuer and the dashboard are https, except on this machine', () => {
  const issuer = 'OIDC_ISSUER must begin with https://, unless it is on this machine, not '
  const dashboard =
    'DASHBOARD_URL must begin with https:// or be on this machine, because OIDC_ISSUER is set, not '
  assert.deepEqual(complaintsAbout({ OIDC_ISSUER: 'http://id.example.com' }), [
    `${issuer}"http://id.example.com"`,
  ])
  assert.deepEqual(complaintsAbout({ OIDC_ISSUER: 'http://127.0.0.1.example.com' }), [
    `${issuer}"http://127.0.0.1.example.com"`,
  ])
  assert.deepEqual(complaintsAbout({ DASHBOARD_URL: 'http://dashboard.example.com' }), [
    `${dashboard}"http://dashboard.example.com"`,
  ])
  assert.deepEqual(complaintsAbout({ DASHBOARD_URL: '', HOST: '0.0.0.0' }), [`${dashboard}unset`])
  for (const host of ['localhost', '127.0.0.1', '[::1]'])
    assert.deepEqual(
      complaintsAbout({ OIDC_ISSUER: `http://${host}:9000`, DASHBOARD_URL: `http://${host}:8081` }),
      [],
    )
  assert.deepEqual(complaintsAbout({ DASHBOARD_URL: '', HOST: '::1' }), [])
})

test('settings that miss another one, or contradict it, are refused', () => {
  assert.deepEqual(complaintsAbout({ OIDC_CLIENT_ID: '', OIDC_CLIENT_SECRET: '' }), [
    'OIDC_CLIENT_ID must be set, because OIDC_ISSUER is',
  ])
  assert.deepEqual(complaintsAbout({ OIDC_CLIENT_SECRET_FILE: '/run/secret' }), [
    'OIDC_CLIENT_SECRET and OIDC_CLIENT_SECRET_FILE are both set; unset one of them',
  ])
  assert.deepEqual(
    complaintsAbout({ OIDC_CLIENT_SECRET: '', OIDC_CLIENT_SECRET_FILE: '/no/such/file' }),
    ['cannot read the file "/no/such/file" that OIDC_CLIENT_SECRET_FILE names: it does not exist'],
  )
  assert.deepEqual(
    complaintsAbout({ OIDC_CLIENT_SECRET: '', OIDC_CLIENT_SECRET_FILE: '/dev/null' }),
    ['cannot read the file "/dev/null" that OIDC_CLIENT_SECRET_FILE names: it is empty'],
  )
  assert.deepEqual(complaintsAbout({ PASSWORDS: 'off', SIGN_UP: 'open' }), [
    "SIGN_UP is open and PASSWORDS is off; unset one of them. With OIDC_ISSUER, OIDC_SIGN_UP=open gives the provider's users accounts",
  ])
  assert.deepEqual(complaintsAbout({ OIDC_ISSUER: '', PASSWORDS: 'off' }), [
    'OIDC_ISSUER must be set, because OIDC_CLIENT_ID, OIDC_CLIENT_SECRET needs an identity provider',
  ])
  const linksAlone = { PASSWORDS: 'off', SIGN_UP: 'closed' }
  assert.ok('config' in readConfig(linksAlone))
  assert.match(
    JSON.stringify(readConfig({ ...linksAlone, SIGN_UP: 'open' })),
    /SIGN_UP is open and/,
  )
  for (const [name, value, wanted] of [
    ['OIDC_SIGN_UP', 'yes', 'be open or closed'],
    ['OIDC_AUTO', 'on', 'be 1 or 0'],
    ['PASSWORDS', '0', 'be on or off'],
    ['OIDC_NAME', 'x'.repeat(65), 'have 1 to 64 characters, not 65'],
    ['OIDC_ISSUER', 'id.example.com', 'begin with http:// or https://'],
    ['OIDC_ISSUER', 'https://id.example.com?x=1', 'have no user, password, query or fragment'],
  ] as const)
    assert.match(
      complaintsAbout({ [name]: value })[0] ?? '',
      new RegExp(`^${name} must ${wanted.replace('?', '.')}, not`),
    )
})

test('no message has the secret', () => {
  const told = complaintsAbout({
    OIDC_CLIENT_SECRET: 'hunter2',
    OIDC_CLIENT_ID: '',
    OIDC_AUTO: 'x',
  })
  assert.doesNotMatch(told.join('\n'), /hunter2/)
})

test('only serve needs the secret, so that commands can read the file of the unit', async (t) => {
  const { run } = commandsIn(t)
  const { OIDC_CLIENT_SECRET: _, ...env } = SET
  const served = await run('serve', { env })
  assert.deepEqual(
    [served.code, served.stderr],
    [2, 'error: OIDC_ISSUER needs OIDC_CLIENT_SECRET_FILE: set it\n'],
  )
  assert.equal((await run('migrate', { env })).code, 0)
  const shown = JSON.parse((await run('config --json', { env })).stdout)
  const shownFor = (wanted: string) =>
    shown.find(({ name }: { name: string }) => name === wanted).value
  assert.deepEqual(['OIDC_ISSUER', 'OIDC_CLIENT_SECRET'].map(shownFor), [SET.OIDC_ISSUER, null])
})
