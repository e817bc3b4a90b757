import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { programIn } from '../../../cli/program.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'

const UNITS = 'deploy/systemd'
const PROGRAM = '/opt/server-listing/bin/server-listing'
/** systemd's score of what a unit may do, times ten: 100 is everything. */
const EXPOSURE_MAX = 25

const unitNames = readdirSync(UNITS).filter((name) => !name.endsWith('.conf'))
const services = unitNames.filter((name) => name.endsWith('.service'))

test('systemd accepts the units without a warning', (t) => {
  const folder = temporaryFolder(t)
  const paths = unitNames.map((name) => {
    const path = join(folder, name)
    // systemd complains about a program that is not installed.
    const text = readFileSync(join(UNITS, name), 'utf8').replaceAll(PROGRAM, '/bin/true')
    writeFileSync(path, text)
    return path
  })
  const verify = () => {
    const ended = spawnSync('systemd-analyze', ['verify', ...paths], { encoding: 'utf8' })
    return [ended.status, ended.stdout, ended.stderr]
  }
  // It exits with 0 for an unknown setting, too.
  assert.deepEqual(verify(), [0, '', ''])

  const dropIns = join(folder, 'server-listing.service.d')
  mkdirSync(dropIns)
  const dropIn = readFileSync(join(UNITS, 'oidc.conf'), 'utf8')
  writeFileSync(join(dropIns, 'oidc.conf'), dropIn)
  assert.deepEqual(verify(), [0, '', ''])
  // It reads the file.
  writeFileSync(join(dropIns, 'oidc.conf'), dropIn.replace('LoadCredential', 'LodCredential'))
  assert.match(String(verify()[2]), /oidc\.conf:\d+: Unknown key.* 'LodCredential'/)
})

test('the units give the programs few rights', () => {
  assert.equal(services.length, 2)
  for (const name of services) {
    const args = ['security', '--offline=true', `--threshold=${EXPOSURE_MAX}`, join(UNITS, name)]
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    assert.equal(status, 0, `${name}: ${stdout.split('\n').at(-2)} ${stderr}`)
  }
})

test('the program has each command and each option of the units', async (t) => {
  const program = programIn(t)
  for (const name of services) {
    const unit = readFileSync(join(UNITS, name), 'utf8')
    const commands = [...unit.matchAll(/^Exec\w+=\S+ (\S+)(.*)$/gm)]
    assert.ok(commands.length > 0)
    for (const [, command, rest] of commands) {
      const help = await program.done([command!, '--help'])
      for (const [option] of rest!.matchAll(/--[a-z-]+/g))
        assert.ok(help.includes(option), `${command} has no ${option}`)
    }
  }
})

test('the timer starts the backup once a day', () => {
  const timers = unitNames.filter((name) => name.endsWith('.timer'))
  assert.deepEqual(timers, ['server-listing-backup.timer'])
  // Without a setting, a timer starts the service of its own name.
  assert.ok(services.includes('server-listing-backup.service'))
  const [, calendar = ''] = /^OnCalendar=(.*)$/m.exec(
    readFileSync(join(UNITS, 'server-listing-backup.timer'), 'utf8'),
  )!
  const { stdout } = spawnSync('systemd-analyze', ['calendar', '--iterations=3', calendar], {
    encoding: 'utf8',
    env: { ...process.env, TZ: 'UTC' },
  })
  const times = [...stdout.matchAll(/: \w+ (\S+ \S+) UTC$/gm)].map(([, time]) =>
    Date.parse(`${time}Z`),
  )
  assert.equal(times.length, 3, stdout)
  for (const [index, time] of times.slice(1).entries())
    assert.equal(time - times[index]!, 86_400_000)
})
