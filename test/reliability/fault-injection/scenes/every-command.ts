import assert from 'node:assert/strict'
import { type Ended, runCommand } from '../../../cli/command.ts'
import { PASSWORD } from '../../../fixtures/dashboard.ts'
import { isWithoutAccess } from '../shape.ts'
import type { Operation } from '../sweep.ts'
import { type Entry, NEW } from './audited.ts'
import { commandsOn, type CreateCommand } from './command.ts'
import { ADA, type Filled, ISSUER } from './filled.ts'

type Operations = Record<string, Operation<Ended>[]>

/** The commands that are tried with faults, by their names. Add an entry for each new command. */
export function operationsOf(filled: Filled, url: string): Operations {
  // A database that can't record a good backup costs a warning only.
  const following = ['last_backup', 'audit_log']
  const command = commandsOn(url)
  return {
    ...ofUsers(command, filled),
    ...ofKeys(command, filled),
    ...ofServers(command, filled),
    'organization list': [command('organization list')],
    'audit list': [command(`audit list --user ${ADA}`)],
    apply: [
      command(`apply --yes ${filled.state}`, {
        isInParts: true,
        assertHonest: assertPlanned,
        audited: [
          [filled.userId, 'key imported', NEW],
          [NEW, 'user added', 'declared@example.com'],
          [filled.userId, 'servers imported', '0 new, 1 changed, 0 removed'],
          ['', 'state applied', '2 added, 1 changed, 0 removed or revoked'],
        ],
      }),
    ],
    export: [command('export')],
    migrate: [command('migrate')],
    doctor: [
      command('doctor', {
        isDone: ({ stdout }) => stdout !== '' && !NEW_PROBLEM.test(stdout),
        assertHonest: assertProblems,
      }),
    ],
    backup: [
      command(`backup ${filled.backup}-again`, {
        following,
        audited: [['', 'database backed up', `${filled.backup}-again`]],
      }),
    ],
  }
}

function ofUsers(command: CreateCommand, { userId }: Filled): Operations {
  const by = (action: string): Entry => [userId, action, ADA]
  const adding = {
    repeated: /already exists/,
    audited: [[NEW, 'user added', 'new@example.com']] as const,
  }
  return {
    'user list': [command('user list')],
    'user add': [
      command('user add new@example.com', adding),
      command('user add new@example.com --password-stdin', { ...adding, stdin: PASSWORD }),
    ],
    'user password': [
      command(`user password ${ADA}`, { stdin: PASSWORD, audited: [by('password changed')] }),
    ],
    'user link': [command(`user link ${ADA}`, { audited: [by('sign-in link issued')] })],
    'user disable': [command(`user disable ${ADA}`, { audited: [by('user disabled')] })],
    'user enable': [command(`user enable ${ADA}`)],
    'user email': [
      command(`user email ${ADA} new@example.com`, {
        repeated: /there is no user/,
        audited: [[userId, 'e-mail changed', 'new@example.com']],
      }),
    ],
    'user identities': [
      command(`user identities --issuer ${ISSUER} --to https://new.example.com`, {
        repeated: /has the issuer "https:\/\/old\.example\.com"/,
        audited: [['', 'identities moved', `1 from ${ISSUER} to https://new.example.com`]],
      }),
    ],
    'user remove': [
      command(`user remove ${ADA} --yes`, {
        repeated: /there is no user/,
        isBetween: isWithoutAccess,
        audited: [by('user removed')],
      }),
    ],
  }
}

function ofKeys(command: CreateCommand, { userId, keyId, key, hashes }: Filled): Operations {
  const audited: Entry[] = [[userId, 'key revoked', keyId]]
  return {
    'key issue': [
      command(`key issue --user ${ADA} --name bot`, {
        isTwiceIfRepeated: true,
        audited: [[userId, 'key issued', NEW]],
      }),
    ],
    'key import': [
      command(`key import --user ${ADA} --hash-file ${hashes}`, {
        audited: [
          [userId, 'key imported', NEW],
          ['', 'keys imported', '1 added, 0 changed, 0 removed or revoked'],
        ],
      }),
    ],
    'key list': [command(`key list --user ${ADA}`), command('key list --unused-for 90d')],
    'key rename': [
      command(`key rename --user ${ADA} --name renamed ${keyId}`, {
        audited: [[userId, 'key renamed', keyId]],
      }),
    ],
    'key revoke': [
      command(`key revoke --user ${ADA} ${keyId}`, { audited }),
      command('key revoke --key-stdin', { stdin: key, audited }),
    ],
  }
}

function ofServers(command: CreateCommand, filled: Filled): Operations {
  const { userId, serverId, lists, file } = filled
  const importing = `server import --user ${ADA}`
  const imported = (counts: string): Entry => [userId, 'servers imported', counts]
  return {
    'server import': [
      command(`${importing} ${file}`, { audited: [imported('1 new, 0 changed, 2 unchanged')] }),
      command(`${importing} --prune --yes ${file}`, {
        isInParts: true,
        audited: [
          imported('1 new, 0 changed, 2 unchanged'),
          imported('1 new, 0 changed, 2 unchanged, 1 removed'),
        ],
      }),
      command(`${importing} --organization red-stone ${file}`, {
        isInParts: true,
        audited: [[userId, 'organization made', NEW], imported('3 new, 0 changed, 0 unchanged')],
      }),
    ],
    'server list': [
      command(`server list --user ${ADA}`, printedInParts(lists.table)),
      command(`server list --user ${ADA} --json`, printedInParts(lists.json)),
      command('server list'),
      command('server list --json'),
    ],
    'server remove': [
      command(`server remove --user ${ADA} --yes ${serverId}`, {
        repeated: /has no server with the id/,
        audited: [[userId, 'servers removed', serverId]],
      }),
    ],
  }
}

/** Why the other commands are not tried here. */
export function reasonsOf(): Record<string, string> {
  return {
    serve: 'its requests and visits are tried',
    health: 'asks the running service only',
    conform: 'asks a service over HTTP only',
    config: 'opens no database',
    restore: 'test/archive/ and, on SQLite, a test of its own try it',
  }
}

/** The names of all commands, as the help prints them. */
export async function commandsOfHelp(group = ''): Promise<string[]> {
  const { stdout } = await runCommand(`${group} --help`.trim())
  const [, listed] = /\nCommands:\n((?: .*\n)+)/.exec(stdout) ?? []
  if (listed === undefined) return [group]
  const names = [...listed.matchAll(/^ {2}([\w-]+)/gm)].map(([, name]) => name!)
  const whole = names.filter((name) => name !== 'help').map((name) => `${group} ${name}`.trim())
  const commands: string[] = []
  for (const name of whole) commands.push(...(await commandsOfHelp(name)))
  return commands
}

/** Replaces the database by the backup. It waits a second, until no use of a key counts anymore. */
export const restoring = ({ backup }: Filled, url: string): Operation<Ended> =>
  commandsOn(url)(`restore --yes ${backup}`, {
    isInParts: true,
    audited: [['', 'database restored', backup]],
    // After its commit, it says what it did before it says what failed.
    assertHonest({ code, stdout, stderr }) {
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, /^(restored [^\n]+\ndatabase: [^\n]+\n)?error: [^\n]+\n$/)
    },
  })

/** The servers of the tests run without fsync, which is a problem at any time. */
const NEW_PROBLEM = /^problem {2}(?!durability)/m

/**
 * A list that the command prints while it reads. If it fails, it has printed the beginning. The
 * reader sees that from the exit code, and in JSON from the missing end.
 */
function printedInParts(list: string): Pick<Operation<Ended>, 'isDone' | 'assertHonest'> {
  return {
    isDone: ({ code, stdout }) => code === 0 && stdout === list,
    assertHonest({ code, stdout, stderr }) {
      assert.equal(code, 1)
      assert.match(stderr, /^error: [^\n]+\n$/)
      assert.ok(list.startsWith(stdout), stdout)
      if (list.startsWith('[')) assert.throws(() => JSON.parse(stdout), SyntaxError)
    },
  }
}

/** The plan comes first. */
function assertPlanned({ code, stderr }: Ended): void {
  assert.equal(code, 1)
  assert.match(stderr, /^error: [^\n]+\n$/m)
}

/** The doctor prints what it could not see as a problem. */
function assertProblems({ code, stdout, stderr }: Ended): void {
  assert.equal(code, 1)
  assert.match(stdout, NEW_PROBLEM)
  assert.match(stderr, /^error: the doctor found \d+ problems?\n$/)
}
