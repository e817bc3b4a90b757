import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { runCommand } from '../cli/command.ts'
import { asAdmin } from '../fixtures/postgres/database.ts'
import { tellAnswer } from './answer.ts'
import { ACTS } from '../../src/acts/document.ts'
import type { Json } from './document.ts'
import { OPERATORS } from './scene.ts'
import type { Stage } from './stage.ts'
import type { Hand } from './table.ts'

/** A way of a document to the database. */
export interface Carrier {
  name: string
  hand: Hand
  /** What its audit entries have as address. */
  address: string
  /** False for a document that it can't carry. */
  takes(document: Json): boolean
  /** Returns `=` lines, or `!` lines for a mistake. */
  send(document: Json): Promise<string[]>
}

/** A file of an operator. */
export function fileOn({ url }: Stage): Carrier {
  return {
    name: 'apply',
    hand: 'file',
    address: 'command line',
    takes: () => true,
    async send(document) {
      const stdin = JSON.stringify({ format_version: 2, ...document })
      const env = { DATABASE_URL: url, OPERATORS: OPERATORS.join(',') }
      const { code, stderr } = await runCommand('apply - --yes', { env, stdin })
      if (code === 0) return []
      const [title = '', ...lines] = stderr.trimEnd().split('\n')
      assert.match(title, /^error: nothing was changed: .*:$/)
      return lines.map((line) => `! ${line.trim()}`)
    },
  }
}

/** PostgreSQL refuses such JSON itself. */
const UNCARRIED = /\\u(?:0000|d800)/

/** The functions of PostgreSQL, which a site's role calls in one transaction. */
export async function functionsOn(t: TestContext, { url }: Stage): Promise<Carrier> {
  const { pathname } = new URL(url)
  const site = `site_of_${pathname.slice(1)}`
  await asAdmin(url, (client) =>
    client.query(`
      CREATE ROLE ${site} LOGIN PASSWORD 'secret';
      GRANT USAGE ON SCHEMA public TO ${site};
      GRANT EXECUTE ON FUNCTION ${ACTS.join(', ')} TO ${site}`),
  )
  const client = new pg.Client(url.replace('postgres:secret@', `${site}:secret@`))
  client.on('error', () => {})
  await client.connect()
  t.after(async () => {
    await client.end()
    await asAdmin(url, (admin) => admin.query(`DROP OWNED BY ${site}; DROP ROLE ${site}`))
  })
  return {
    name: 'functions',
    hand: 'site',
    address: 'site',
    takes: (document) =>
      !('all_servers_of' in document) && !UNCARRIED.test(JSON.stringify(document)),
    async send(document) {
      const answer: Json = {}
      const isolation =
        'all_users' in document || 'all_servers' in document ? 'REPEATABLE READ' : 'READ COMMITTED'
      await client.query(`BEGIN ISOLATION LEVEL ${isolation}`)
      try {
        for (const act of ACTS.filter((one) => one in document)) {
          const all = act.replace('put_', 'all_')
          const second = all !== act && all in document ? `, ${all} => true` : ''
          const values = [JSON.stringify(document[act])]
          const { rows } = await client.query(`SELECT ${act}($1${second}) AS answer`, values)
          answer[act] = rows[0].answer
        }
        await client.query('COMMIT')
        return tellAnswer(answer as never, document)
      } catch (error) {
        await client.query('ROLLBACK')
        if ((error as pg.DatabaseError).code !== '22023') throw error
        return [`! ${(error as Error).message}`]
      }
    },
  }
}
