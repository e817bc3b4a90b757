import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import { documentOf } from '../../fixtures/document.ts'
import { rowsOf } from '../../archive/files.ts'
import { addAda } from '../ada.ts'
import { assertRefused, type Ended } from '../command.ts'
import { programIn } from '../program.ts'
import { runInShell } from '../shell.ts'
import { once } from '../../fixtures/within.ts'

/*
 * Each command that reads an input reads each kind of input, or refuses it with the same sentence
 * and changes nothing.
 */

const HASH = 'Ab'.repeat(32)
const KEY = `svc_live_${'0'.repeat(64)}`

/** What stands for the input in a command. An address has the same character. */
const INPUT = /@(?= |$)/

interface Reader {
  /** In a shell, where `@` stands for the input. */
  command: string
  text: string
  /** What the command says once it has read the text. */
  read: RegExp
  /** Sentences of its own, by the name of the input that it refuses. */
  own?: Record<string, RegExp>
  /** A sentence of its own about an empty input. */
  empty?: RegExp
}

const OIDC = 'OIDC_ISSUER=https://id.example.com OIDC_CLIENT_ID=listing'

const READERS: Record<string, Reader> = {
  'a state file': {
    command: 'apply --dry-run @',
    text: '{"format_version":2,"put_users":[{"email":"bob@example.com"}]}',
    read: /\b1 to add\b/,
    empty: /is not JSON/,
  },
  servers: {
    command: 'server import --dry-run --user ada@example.com @',
    text: 'name,address\nA,a.example.com\n',
    read: /would be 1 new/,
    empty: /is empty\. It must be a JSON array of servers, or CSV/,
  },
  'hashes of keys': {
    command: 'key import --user ada@example.com --hash-file @',
    text: `key_hash,name\n${HASH.toLowerCase()},bot\n`,
    read: /imported 1 key for ada@example\.com/,
    empty: /is not JSON/,
  },
  'a key that a state file names': {
    command: 'apply --dry-run {folder}/state.json',
    text: `${KEY}\n`,
    read: /\+ key .*svc_live_0000000/,
  },
  'a key to check with': {
    command: 'conform http://127.0.0.1:1 --key-file @',
    text: `${KEY}\n`,
    read: /no program listens there/,
    empty: /--key-file must name a file with one API key and nothing else/,
  },
  'revoked keys': {
    command: 'restore --revocations @',
    text: `2026-01-01T00:00:00.000000Z key ${HASH}\n`,
    read: /revoked what .* lists: 1 key;/,
    own: {
      'latin-1': /line 1 is not an instant, the word key and 64 hex/,
      '/dev/zero': /it is not a text file/,
    },
    empty: /it lists no key\. Leave --revocations out if nothing was ever revoked$/m,
  },
  '--env-file': {
    command: '--env-file @ config',
    text: 'SITE_NAME=Playground\n',
    read: /^SITE_NAME +Playground/m,
  },
  DATABASE_URL_FILE: {
    command: 'DATABASE_URL= DATABASE_URL_FILE=@ user list',
    text: 'sqlite:{folder}/data/listing.db\n',
    read: /ada@example\.com/,
  },
  OIDC_CLIENT_SECRET_FILE: {
    command: `DASHBOARD_URL=https://d.example.com ${OIDC} OIDC_CLIENT_SECRET_FILE=@ config`,
    text: 'secret\n',
    read: /^OIDC_CLIENT_ID +listing/m,
  },
}

const UTF_16 = /it is UTF-16 text\. Save it as UTF-8 and try again/
const SPREADSHEET = /it is a spreadsheet or a ZIP file\. Save the sheet as CSV and try again/

/** Inputs that no command reads, with what each says. */
function refusedInputs(text: string): [name: string, content: Buffer | null, sentence: RegExp][] {
  const utf16 = (mark: string) => Buffer.from(`${mark}${text}`, 'utf16le')
  return [
    ['little-endian', utf16('\uFEFF'), UTF_16],
    ['big-endian', utf16('\uFEFF').swap16(), UTF_16],
    ['little-endian-unmarked', utf16(''), UTF_16],
    ['big-endian-unmarked', utf16('').swap16(), UTF_16],
    ['xlsx', Buffer.from('504b030414000600080000002100', 'hex'), SPREADSHEET],
    ['xls', Buffer.from('d0cf11e0a1b11ae10000', 'hex'), SPREADSHEET],
    ['binary', Buffer.from('89504e470d0a1a0a0000', 'hex'), /it is not a text file/],
    ['latin-1', Buffer.from('M\xfcller\n', 'latin1'), /it is not UTF-8 text\. Save it as/],
    ['folder', null, /it is a folder/],
    ['missing', null, /it does not exist/],
    // Even root can't read its first byte.
    ['/proc/self/mem', null, /it can't be read: EIO/],
    // It has no end.
    ['/dev/zero', null, /it is larger than (1|256) MB/],
  ]
}

for (const [what, reader] of Object.entries(READERS)) {
  const { command, text, read } = reader

  test(`${what} can be a file or a pipe, with a byte order mark too`, async (t) => {
    const { folder, place, write, run, runInShell } = await scene(t)
    write('plain', text)
    write('marked', `\uFEFF${text}`)
    execFileSync('mkfifo', [place('fifo')])
    const every = [await run(command, place('plain')), await run(command, place('marked'))]
    const writer = spawn('sh', ['-c', 'cat marked > fifo'], { cwd: folder })
    const [inFifo] = await Promise.all([run(command, place('fifo')), once(writer, 'close')])
    every.push(inFifo)
    every.push(await runInShell(command, ...pipeFor(command)))
    for (const { stdout, stderr } of every) assert.match(stdout + stderr, read)
  })

  test(`${what} can't be a folder, another format or nothing`, async (t) => {
    const { program, place, write, run } = await scene(t)
    const before = rowsOf(program.databasePath)
    for (const [name, content, said] of refusedInputs(text)) {
      if (content !== null) write(name, content)
      refused(await run(command, place(name)), reader.own?.[name] ?? said)
    }
    write('empty', '')
    refused(await run(command, place('empty')), reader.empty ?? /it is empty$/m)
    assert.deepEqual(rowsOf(program.databasePath), before)
  })
}

test('standard input is read from a pipe, a file and a socket', async (t) => {
  const { program, write, runInShell } = await scene(t)
  const { command, text, read } = READERS['hashes of keys']!
  write('list', text)
  const every = [
    await runInShell(command, '/dev/stdin', '< list'),
    await runInShell(command, '/dev/stdin', '< <(cat list)'),
    await runInShell(command, '-', '< <(cat list)'),
    // What Node.js gives a child is a socket, which has no path to open.
    await program.begin(command.replace(INPUT, '/dev/stdin'), { stdin: text }).ended,
  ]
  for (const { stderr } of every) assert.match(stderr, read)
  const env = READERS.DATABASE_URL_FILE!
  write('url', env.text)
  const piped = await runInShell(env.command, '/dev/stdin', '< <(cat url)')
  assert.match(piped.stdout, env.read)
})

test('an archive can only be a file, and a message says so of a pipe', async (t) => {
  const { program, place, write, run, runInShell } = await scene(t)
  await program.done(['backup', place('archive')])
  write('empty', '')
  const before = rowsOf(program.databasePath)
  const pipe = /it is no regular file\. Save the archive to a file first, and name that$/m
  const list = 'restore --yes {folder}/archive --revocations @'
  refused(await runInShell('restore --yes @', '<(cat archive)'), pipe)
  refused(await runInShell(list, '<(cat archive)'), pipe)
  refused(await runInShell(list, '-', '< <(cat archive)'), pipe)
  for (const [name, said] of [
    ['-', pipe],
    [place('folder'), /: it is a folder$/m],
    [place('missing'), /: it does not exist$/m],
    [place('empty'), /: it is empty$/m],
    [place('state.json'), /: it is not an SQLite database$/m],
  ] as const)
    refused(await run('restore --yes @', name), said)
  assert.deepEqual(rowsOf(program.databasePath), before)
  assert.equal((await runInShell(list, '/dev/stdin', '< archive')).code, 0)
})

test('a setting from a pipe holds for all that a command does', async (t) => {
  const { write, runInShell } = await scene(t)
  write('url', READERS.DATABASE_URL_FILE!.text)
  const made = await runInShell('DATABASE_URL= DATABASE_URL_FILE=@ backup archive', '<(cat url)')
  assert.equal(made.code, 0)
  // It opens the database twice: to copy it, and to record that.
  assert.doesNotMatch(made.stderr, /warning/)
})

test('a command that waits for the end of a pipe ends with a signal', async (t) => {
  const { program, folder, place } = await scene(t)
  execFileSync('mkfifo', [place('fifo')])
  for (const reader of ['hashes of keys', '--env-file'])
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      const begun = program.begin(READERS[reader]!.command.replace(INPUT, 'fifo'))
      // The writer opens the pipe once the command does, and writes nothing.
      const writer = spawn('sh', ['-c', 'exec > fifo; echo open >&2; read _'], { cwd: folder })
      t.after(() => writer.kill())
      assert.ok(Array.isArray(await Promise.race([once(writer.stderr, 'data'), begun.ended])))
      begun.kill(signal)
      assert.equal((await begun.ended).signal, signal)
      writer.stdin.end()
      await once(writer, 'close')
    }
})

/** A database of Ada's, and commands that read what `@` in them stands for. */
async function scene(t: TestContext) {
  const program = programIn(t)
  const { folder } = program
  const place = (name: string) => resolve(folder, name)
  const fill = (text: string) => text.replaceAll('{folder}', folder)
  await addAda(program)
  mkdirSync(place('folder'))
  writeFileSync(place('state.json'), '')
  /** A state file names the input of a command without an `@`. */
  const withInput = (command: string, name: string): string => {
    const keys = [{ name: 'bot', key_file: name }]
    const state = documentOf({ users: [{ email: 'bob@example.com', keys }] })
    writeFileSync(place('state.json'), JSON.stringify(state))
    return fill(command).replace(INPUT, name)
  }
  return {
    program,
    folder,
    place,

    write(name: string, content: string | Buffer): void {
      writeFileSync(place(name), typeof content === 'string' ? fill(content) : content)
    },

    run(command: string, name: string): Promise<Ended> {
      const words = withInput(command, name).split(' ')
      const env = words.filter(isVariable).map((word) => word.split(/=(.*)/s))
      const args = words.filter((word) => !isVariable(word))
      return program.run(args, { env: Object.fromEntries(env) })
    },

    /** `redirection` is of the shell that starts the command. */
    runInShell: (command: string, name: string, redirection = ''): Promise<Ended> =>
      runInShell(program, `${withInput(command, name)} ${redirection}`),
  }
}

const isVariable = (word: string) => /^[A-Z_]+=/.test(word)

/** JSON can't name a pipe that the shell makes on the spot. */
function pipeFor(command: string): [name: string, redirection?: string] {
  return INPUT.test(command) ? ['<(cat marked)'] : ['/dev/fd/8', '8< <(cat marked)']
}

/** Exit code 2 is for what the environment or the command line names. */
function refused(ended: Ended, said: RegExp): void {
  assertRefused(ended, ended.code === 2 ? 2 : 1, said)
}
