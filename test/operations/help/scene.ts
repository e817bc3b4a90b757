import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { documentOf } from '../../fixtures/document.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { freePort } from '../../fixtures/free-port.ts'
import type { Server } from '../../fixtures/postgres/server.ts'
import { shellEnvironment } from '../guide/shim.ts'

/** What an example printed on both outputs, and its exit code. */
interface Ended {
  code: number | null
  output: string
}

/** The folder of an operator who has a user, a key, a server, an organization and a backup. */
export interface Scene {
  /** The help of a command, such as `key list`. */
  helpOf(words: string): string
  /** Runs an example in a copy of the folder. */
  run(example: string): Promise<Ended>
  remove(): void
}

/** The id that the examples name, of a key and of a server. */
const ID = '3f2b8c1e-6a52-4c59-9d0e-4a1f6f1f7b10'
const KEY = `svc_live_${'5e'.repeat(32)}`
const PASSWORD = 'correct horse battery staple'
const SERVER = { name: 'Survival', address: 'play.example.com' }
const STATE = documentOf({
  organizations: [
    {
      slug: 'red-stone',
      name: 'Red Stone',
      members: [{ email: 'ada@example.com', role: 'owner' }],
    },
  ],
  users: [
    {
      external_id: '4711',
      email: 'ada@example.com',
      keys: [{ id: ID, name: 'bot', key_file: 'leaked.txt' }],
      servers: [{ id: ID, ...SERVER }],
    },
  ],
})

export function openScene(postgres: Pick<Server, 'url'>): Scene {
  const home = mkdtempSync(join(tmpdir(), 'server-listing-help-'))
  const template = join(home, 'template')
  const scratch = join(home, 'scratch')
  for (const folder of [template, scratch]) mkdirSync(folder)
  const environment = {
    ...shellEnvironment(scratch),
    HOME: home,
    PORT: '0',
    DASHBOARD_PORT: '0',
    OPS_PORT: '0',
    DASHBOARD_URL: 'http://127.0.0.1:8081',
    RESTIC_REPOSITORY: 'restic',
    RESTIC_PASSWORD: PASSWORD,
  }
  fill(template, environment)
  let count = 0

  return {
    helpOf: (words) => {
      const args = [...words.split(' ').filter((word) => word !== ''), '--help']
      return execFileSync('server-listing', args, { env: environment, encoding: 'utf8' })
    },

    async run(example) {
      count += 1
      const folder = join(home, `run-${count}`)
      cpSync(template, folder, { recursive: true })
      const env = { ...environment, DATABASE_URL: 'sqlite:listing.db' }
      if (/\buser add\b/.test(example)) env.DATABASE_URL = 'sqlite:empty.db'
      if (/\bhealth\b/.test(example)) env.OPS_PORT = String(await freePort())
      let line = example
        .replaceAll(/ (\/(?:etc|mnt|var)\/)/g, ` ${folder}$1`)
        .replace('sqlite:/var/', `sqlite:${folder}/var/`)
        .replace('--port 8090', '--port 0')
      if (line.includes('postgres://'))
        line = line.replace(/postgres:\S+/, `'${await createDatabase(postgres)}'`)
      return runLine(line, { cwd: folder, env })
    },

    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** Makes the files that the examples name. */
function fill(folder: string, environment: Record<string, string>): void {
  const write = (name: string, content: string) => writeFileSync(join(folder, name), content)
  const folders = [
    'etc',
    'data',
    'mnt/copy',
    'var/lib/server-listing',
    'var/backups/server-listing',
  ]
  for (const name of folders) mkdirSync(join(folder, name), { recursive: true })
  write('etc/server-listing.env', 'DATABASE_URL=sqlite:listing.db\n')
  write('password.txt', `${PASSWORD}\n`)
  write('leaked.txt', `${KEY}\n`)
  write('servers.json', JSON.stringify([SERVER]))
  write('keys.csv', `name,key_hash\nbot,${'0c'.repeat(32)}\n`)
  write('keys-of-all.csv', `external_id,email,name,key_hash\n4711,,bot,${'0d'.repeat(32)}\n`)
  write('state.json', JSON.stringify(STATE))
  const commands = `
    DATABASE_URL=sqlite:empty.db server-listing migrate
    export DATABASE_URL=sqlite:listing.db
    server-listing migrate
    server-listing apply state.json --yes
    server-listing key issue --user ada@example.com --name old > old.key
    server-listing key revoke --key-stdin < old.key
    server-listing backup var/backups/listing.db
    server-listing backup var/backups/server-listing
    cp listing.db-revoked mnt/copy/
    cp var/backups/listing.db data/server-listing.db
    restic init`
  execFileSync('bash', ['--norc', '-euc', commands], {
    cwd: folder,
    env: environment,
    stdio: 'pipe',
  })
  // No command makes an identity: a sign-in does.
  const file = new DatabaseSync(join(folder, 'listing.db'))
  file.exec(`INSERT INTO identities (issuer, subject, user_id)
    SELECT 'https://old.example.com', 'ada', id FROM users`)
  file.close()
}

interface Place {
  cwd: string
  env: Record<string, string>
}

async function runLine(line: string, place: Place): Promise<Ended> {
  if (/server-listing serve( |$)/.test(line)) return serve(line, place)
  if (/server-listing health/.test(line)) {
    const service = spawn('server-listing', ['serve'], { ...place, stdio: 'ignore' })
    const ended = once(service, 'exit')
    try {
      await runShell('server-listing health --wait 60', place)
      return await runShell(line, place)
    } finally {
      service.kill('SIGTERM')
      await ended
    }
  }
  // These commands ask before they act, so they get a terminal.
  const asks = /server-listing (user remove|server remove|restore) (?!.*--yes)/.test(line)
  return asks ? runShell(`script -qec '${line}' /dev/null <<< yes`, place) : runShell(line, place)
}

/** Starts the service, and ends it once it listens. */
async function serve(line: string, { cwd, env }: Place): Promise<Ended> {
  const service = spawn('bash', ['--norc', '-c', `exec ${line}`], { cwd, env, stdio: 'pipe' })
  const ended = once(service, 'close')
  let output = ''
  for (const stream of [service.stdout, service.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      // A second signal would end it at once.
      if (!service.killed && /listening on/.test(output)) service.kill('SIGTERM')
    })
  const [code] = await ended
  return { code, output }
}

function runShell(line: string, place: Place): Promise<Ended> {
  return new Promise((resolve) => {
    execFile('bash', ['--norc', '-euo', 'pipefail', '-c', line], place, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code)
      resolve({ code, output: `${stdout}${stderr}` })
    })
  })
}
