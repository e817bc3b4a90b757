import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { createAnswer } from '../../src/api/answer.ts'
import { refusal } from '../../src/api/responses.ts'
import { LIMITS } from '../../src/http/limits.ts'
import { listen } from '../../src/http/listen.ts'
import { migratePostgres, openServingPostgresStore } from '../../src/postgres/store.ts'
import { asAdmin, createDatabase, removeDatabase } from '../fixtures/postgres/database.ts'
import type { Server } from '../fixtures/postgres/server.ts'
import { ask } from '../fixtures/requests.ts'
import { ROOT } from '../fixtures/tree.ts'
import { type CodeBlock, codeBlocksOf } from '../operations/documents/code-blocks.ts'

const PAGE = 'docs/site.md'
const PASSWORD = 'change-me'

/** A site as docs/site.md builds it, in a database of its own. */
export interface ToySite {
  /** The URL for the service's role, which owns the tables. */
  url: string
  /** The site's program, which does not own the site's tables. A text names roles as the page. */
  query(sql: string, values?: unknown[]): Promise<pg.QueryResult>
  /** The same on another connection, as this role. */
  queryAs(role: Role | 'web', sql: string, values?: unknown[]): Promise<pg.QueryResult>
  /** The text of the page's block with this title. */
  textOf(title: string): string
  /** Runs the page's block with this title. */
  run(title: string): Promise<pg.QueryResult>
}

/** Who runs a block of the page. */
type Role = 'listing' | 'site' | 'postgres'

export interface SiteOptions {
  /** Runs before the first load, with tables that are empty. */
  fill?: (site: ToySite) => Promise<unknown>
  /** Runs a block of the shell. Without it, only the migration happens. */
  shell?: (commands: string, url: string, at: string) => Promise<void>
}

type Cleaning = Pick<TestContext, 'after'>

export async function buildSite(
  t: Cleaning,
  server: Pick<Server, 'url'>,
  options: SiteOptions = {},
): Promise<ToySite> {
  const toy = await openToy(t, server)
  const blocks = pageBlocks()
  for (const { language, role, at } of blocks) assert.ok(language !== 'sql' || role !== null, at)
  await follow(toy, blocks, options)
  return toy
}

/** A database with the roles of a site and of its program. */
export async function openToy(t: Cleaning, server: Pick<Server, 'url'>): Promise<ToySite> {
  const admin = await createDatabase(server)
  const database = new URL(admin).pathname.slice(1)
  // Roles are of the whole server, which other tests use.
  const named = (text: string) =>
    text.replaceAll(/(?<![\w-])(listing|site|web)\b/g, `$1_${database}`)
  const urlOf = (role: Role | 'web') =>
    role === 'postgres' ? admin : admin.replace('postgres:secret', `${named(role)}:${PASSWORD}`)
  const queryAs: ToySite['queryAs'] = (role, sql, values) =>
    asAdmin(urlOf(role), (other) => other.query(named(sql), values))
  await queryAs(
    'postgres',
    `CREATE ROLE site LOGIN PASSWORD '${PASSWORD}'; CREATE ROLE web LOGIN PASSWORD '${PASSWORD}';
     ALTER DATABASE ${database} OWNER TO site;
     ALTER DEFAULT PRIVILEGES FOR ROLE site GRANT ALL ON TABLES TO web`,
  )
  const client = new pg.Client(urlOf('web'))
  client.on('error', () => {})
  await client.connect()
  t.after(async () => {
    await client.end()
    await removeDatabase(server, admin)
    const roles = named('DROP ROLE IF EXISTS site, web, listing')
    await asAdmin(server.url(), (root) => root.query(roles))
  })

  const blocks = pageBlocks()
  const toy: ToySite = {
    url: urlOf('listing'),
    query: (sql, values) => client.query(named(sql), values),
    queryAs,
    textOf(title) {
      const block = blocks.find((one) => one.title === title)
      assert.ok(block, `${PAGE} has no block "${title}"`)
      return block.text
    },
    run: (title) => queryAs('site', toy.textOf(title)),
  }
  return toy
}

/** Runs blocks of the page in their order, each as the role that it names. */
export async function follow(
  toy: ToySite,
  blocks: readonly PageBlock[],
  { fill = async () => {}, shell = migrateAt }: SiteOptions = {},
): Promise<void> {
  for (const { language, role, title, text, at } of blocks) {
    if (language === 'sh') await shell(text, toy.url, at)
    if (role === null || title !== null) continue
    if (text.includes('CREATE TRIGGER')) await fill(toy)
    try {
      await toy.queryAs(role, text)
    } catch (cause) {
      throw new Error(`${at} failed`, { cause })
    }
  }
}

async function migrateAt(commands: string, url: string): Promise<void> {
  if (commands.includes('postgres://')) await migratePostgres(url)
}

export interface PageBlock extends CodeBlock {
  /** Who runs the SQL on PostgreSQL. */
  role: Role | null
  /** What the statement is for, if the reader runs it later or several times. */
  title: string | null
}

export function pageBlocks(page = readFileSync(join(ROOT, PAGE), 'utf8')): PageBlock[] {
  return codeBlocksOf(page, PAGE).map((block) => {
    const [, role = null, title = null] =
      /^-- Run as (site|listing|postgres)(?:: (.+))?\.\n/.exec(block.text) ?? []
    return { ...block, role: role as PageBlock['role'], title }
  })
}

/** The API on a real socket. `answer` waits for no key's second. */
export async function serveSite(t: Cleaning, { url, queryAs }: ToySite) {
  const store = await openServingPostgresStore(url)
  const api = { answer: createAnswer({ store, onFault: () => '' }), refuse: refusal }
  const listener = await listen({ ...api, observe: () => {} }, '127.0.0.1', 0, LIMITS)
  t.after(async () => {
    await listener.close()
    await store.close()
  })
  return {
    async answer(key: string): Promise<{ status: number; names: string[] | null }> {
      await queryAs('listing', 'UPDATE api_keys SET last_used_at = NULL')
      const { status, body } = await ask(listener.port, { key })
      const { servers } = JSON.parse(body) as { servers?: { name: string }[] }
      return { status, names: servers?.map(({ name }) => name) ?? null }
    },
  }
}
