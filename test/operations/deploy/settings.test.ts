import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CLOSE_MS } from '../../../src/cli/serve/signals.ts'
import { readConfig } from '../../../src/config/config.ts'
import { DRAIN_SECONDS_MAX, NAMED_SETTINGS } from '../../../src/config/settings.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { filesBelow, filesIn, ROOT } from '../../fixtures/tree.ts'

/*
 * The files of deploy/ and the examples of the documents set only variables that the service knows,
 * with values that it accepts.
 */

const FOLDER = join(ROOT, 'deploy/compose')
/** The last one is for the C library. */
const KNOWN = new Set<string>([
  ...NAMED_SETTINGS.map(([name]) => name),
  'NODE_ENV',
  'MALLOC_ARENA_MAX',
])

interface ComposeFile {
  services: Record<string, ComposeService>
  volumes: Record<string, object>
}

interface ComposeService {
  image: string
  environment: Record<string, string>
  ports?: string[]
  volumes?: string[]
  read_only?: boolean
  stop_grace_period?: string
}

for (const name of readdirSync(FOLDER))
  test(`${name} is a compose file, with settings that the service accepts`, () => {
    const { services, volumes } = read(name)
    const { environment, ports, volumes: mounts = [], ...service } = services.listing!
    assert.equal(service.read_only, true)
    assertAccepted({ ...imageEnvironment(), ...environment })
    assert.deepEqual(
      ports!.map((port) => /^127\.0\.0\.1:(\d+:\d+)\/tcp$/.exec(port)?.[1]),
      ['8080:8080', '8081:8081'],
    )
    const mounted = [...mounts, ...(services.database?.volumes ?? [])]
    assert.deepEqual(
      mounted.map((each) => each.split(':')[0]),
      Object.keys(volumes),
    )
    if (environment.DATABASE_URL!.startsWith('sqlite:'))
      assert.match(dockerfile(), new RegExp(`^VOLUME ${mounts[0]!.split(':')[1]}$`, 'm'))
  })

test('supervisors wait longer for the end of the service than it may take', () => {
  const longest = DRAIN_SECONDS_MAX + CLOSE_MS / 1_000
  const [, unit] = /^TimeoutStopSec=(\d+)$/m.exec(
    readFileSync(join(ROOT, 'deploy/systemd/server-listing.service'), 'utf8'),
  )!
  const [, docker] = /--stop-timeout (\d+)/.exec(
    readFileSync(join(ROOT, 'docs/packages.md'), 'utf8'),
  )!
  const compose = readdirSync(FOLDER).map((name) => {
    const period = read(name).services.listing!.stop_grace_period!
    const [, minutes = 0, seconds = 0] = /^(?:(\d+)m)?(?:(\d+)s)?$/.exec(period)!
    return 60 * Number(minutes) + Number(seconds)
  })
  for (const seconds of [unit, docker, ...compose])
    assert.ok(Number(seconds) > longest, `${seconds}`)
})

test('the compose file with PostgreSQL connects the service to its database', () => {
  const { services } = read('postgres.yaml')
  const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = services.database!.environment
  const credentials = `${POSTGRES_USER}:${POSTGRES_PASSWORD}`
  const url = `postgres://${credentials}@database:5432/${POSTGRES_DB}`
  assert.equal(services.listing!.environment.DATABASE_URL, url)
})

test('the image has settings that the service accepts, and its ports', () => {
  const environment = imageEnvironment()
  assert.equal(environment.NODE_ENV, 'production')
  assertAccepted(environment)
  assert.match(dockerfile(), /^EXPOSE 8080 8081$/m)
})

test('the image gives Node.js the options that the program gives it', () => {
  const program = readFileSync(join(ROOT, 'bin/server-listing.js'), 'utf8')
  const [, options] = / node (--.*) "\$0" "\$@"$/m.exec(program)!
  const [, entry = ''] = /^ENTRYPOINT (\[.*\])$/m.exec(dockerfile())!
  const [node, ...given] = JSON.parse(entry) as string[]
  assert.deepEqual([node, given.slice(0, -1).join(' ')], ['node', options])
})

test('the units have settings that the service accepts', () => {
  const units = filesIn('deploy/systemd', '.service')
  assert.equal(units.length, 2)
  for (const { text } of units)
    for (const [, line = ''] of text.matchAll(/^Environment=(.*)$/gm))
      assertAccepted(variablesIn(line))
})

test('the unit hands the service the secret of an identity provider', (t) => {
  const [{ text } = { text: '' }] = filesIn('deploy/systemd', 'oidc.conf')
  const credentials = temporaryFolder(t)
  const [, name] = /^LoadCredential=(\w+):/m.exec(text)!
  writeFileSync(join(credentials, name!), 'hunter2\n')
  const lines = [...text.matchAll(/^Environment=(.*)$/gm)].map(([, line = '']) => line)
  // systemd writes the folder of the credentials for %d.
  const secret = variablesIn(lines.join(' ').replace('%d', credentials))
  assert.deepEqual(Object.keys(secret), ['OIDC_CLIENT_SECRET_FILE'])
  const provider = { OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'server-listing' }
  const environment = { ...secret, ...provider }
  assertAccepted(environment)
  const read = readConfig(environment)
  assert.ok('config' in read)
  assert.equal(read.config.oidc?.clientSecret, 'hunter2')
})

/** The variables of a line `Environment=` of a unit. */
function variablesIn(line: string): Record<string, string> {
  return Object.fromEntries(line.split(' ').map((each) => each.split(/=(.*)/s)))
}

test('the examples for operators set only variables that the service knows', () => {
  const examples = [...filesBelow('docs', '.md'), ...filesIn('.', 'README.md')]
    .filter(({ path }) => !NOT_FOR_OPERATORS.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, block = '']) => ({ path, block })),
    )
  const set = examples.flatMap(({ path, block }) =>
    [...block.matchAll(/(?<![\w$.-])([A-Z][A-Z_]+)=/g)].map(([, name]) => ({ path, name: name! })),
  )
  assert.ok(set.some(({ name }) => name === 'TRUSTED_PROXIES'))
  assert.deepEqual(
    set.filter(({ name }) => !KNOWN.has(name) && !OF_OTHERS.test(name)),
    [],
  )
})

const NOT_FOR_OPERATORS = /^docs\/(api|decisions\/|integrators|mutation|reliability)/
/** Variables of shells, tests and other programs. */
const OF_OTHERS =
  /^(PATH|BASE|VERSION|POSTGRES_\w+|ON_ERROR_STOP|(OLD|NEW)_TARBALL|(RESTIC|XDG)_\w+)$/

function assertAccepted(environment: Record<string, string>): void {
  for (const name of Object.keys(environment)) assert.ok(KNOWN.has(name), name)
  const read = readConfig(environment)
  assert.ok('config' in read, JSON.stringify(read))
}

/** What docker-compose reads from a file. It refuses keys and values that no compose file has. */
function read(name: string): ComposeFile {
  const env = { PATH: process.env.PATH, POSTGRES_PASSWORD: 'secret' }
  const args = ['--file', join(FOLDER, name), 'config']
  const yaml = execFileSync('docker-compose', args, { encoding: 'utf8', env })
  const toJson = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))'
  return JSON.parse(execFileSync('python3', ['-c', toJson], { input: yaml, encoding: 'utf8' }))
}

function imageEnvironment(): Record<string, string> {
  const [, block = ''] = /^ENV (.*?[^\\])$/ms.exec(dockerfile())!
  const pairs = [...block.matchAll(/([A-Z_]+)=(\S+)/g)]
  assert.equal(pairs.length, 4, block)
  return Object.fromEntries(pairs.map(([, name, value]) => [name!, value!]))
}

function dockerfile(): string {
  return readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8')
}
