import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { DatabaseConfig } from '../../src/config/database-url.ts'
import type { OpenDatabase, TestDashboard } from '../fixtures/dashboard.ts'
import type { Person } from '../fixtures/person.ts'
import {
  openScene,
  openSetup,
  type Other,
  type Scene,
  SIGNED_IN,
  SIGNED_OUT,
} from '../reliability/fault-injection/scenes/dashboard-scene.ts'
import type { Tables } from '../reliability/fault-injection/tables.ts'
import { type Asked, readRequest } from './requests.ts'

/** A dashboard on which a transcript is played. Its tables can be restored. */
export interface Stage {
  dashboard: TestDashboard
  tables: Tables
  database: DatabaseConfig
  /** Names of ids that the rows do not tell apart. */
  rowNames: Readonly<Record<string, string>>
  /** What inputs name in braces. */
  named: Readonly<Record<string, string>>
  /** A browser of this person, as it is before each input. */
  browserOf(name: string): Person
  /** Everyone who sends each form besides the person for whom it is. */
  others: readonly Other[]
  /** The ids of those of them who are signed in. */
  ids: Readonly<Record<string, string>>
}

const SITE = { siteUrl: 'https://example.com', dashboardUrl: 'https://dashboard.example.com' }

/** The stage of the transcript `setup` has no accounts yet. */
export function openStage(
  t: TestContext,
  name: string,
  open: OpenDatabase,
  openTables?: OpenTables,
): Promise<Stage> {
  return name === 'setup'
    ? openSetupStage(t, open, openTables)
    : openSceneStage(t, open, openTables)
}

/** Reads and restores the tables of the stage. */
type OpenTables = (database: DatabaseConfig) => Tables | Promise<Tables>

async function openSceneStage(
  t: TestContext,
  open: OpenDatabase,
  openTables?: OpenTables,
): Promise<Stage> {
  let database: DatabaseConfig
  const scene = await openScene(t, async () => (database = await open(t)), SITE, openTables)
  const { dashboard, tables, ada } = scene
  return {
    dashboard,
    tables,
    database: database!,
    rowNames: rowNamesOf(scene),
    named: { ...namesOf(scene), engine: database!.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL' },
    browserOf: (name) => (name === 'ada' ? ada : personCalled(scene, name)).copy(),
    others: [...SIGNED_IN, ...SIGNED_OUT],
    ids: scene.ids,
  }
}

async function openSetupStage(
  t: TestContext,
  open: OpenDatabase,
  openTables?: OpenTables,
): Promise<Stage> {
  let database: DatabaseConfig
  const opened = await openSetup(t, async () => (database = await open(t)), openTables)
  const { dashboard, tables, token } = opened
  return {
    dashboard,
    tables,
    database: database!,
    rowNames: {},
    named: { token },
    browserOf: dashboard.visitor,
    others: [],
    ids: {},
  }
}

function personCalled({ others }: Scene, name: string): Person {
  const person = others[name as Other]
  if (person === undefined) throw new Error(`no person is called ${name}`)
  return person
}

/** What an input names in braces. */
export function namesOf(scene: Scene): Record<string, string> {
  const { user, bob, disabled, fingerprint, keys } = scene
  const { link, otherSession, server, deletion, organization } = scene
  const { emptyOrganization, otherOrganization, shared, left } = scene
  const ofKeys = keys.flatMap(({ id, key }, index) => [
    [`keyId${index + 1}`, id],
    [`wholeKey${index + 1}`, key],
    [`prefix${index + 1}`, key.slice(0, 16)],
  ])
  return {
    ada: user.id,
    bob: bob.id,
    disabled: disabled.id,
    link,
    otherSession,
    server,
    shared,
    left,
    deletion,
    organization,
    emptyOrganization,
    otherOrganization,
    fingerprint,
    ...Object.fromEntries(ofKeys),
  }
}

/** The names of rows that are alike but for their ids. */
function rowNamesOf(scene: Scene): Record<string, string> {
  const { server, deleted, shared, left, otherSession, lateSession } = scene
  return {
    'server:Survival': server,
    'server:deleted': deleted,
    'server:shared': shared,
    'server:left': left,
    'session:ada-elsewhere': otherSession,
    'session:ada-late': lateSession,
  }
}

/** What an input asks on this stage. */
export function askedOn({ named }: Stage, text: string): Asked {
  return readRequest(text.replaceAll(/\{(\w+)\}/g, (name, word: string) => named[word] ?? name))
}

/** The text with ids that no record has, in the place of names in braces. */
export function withUnknownIds(text: string): string {
  return text.replaceAll(/\{\w+\}/g, () => randomUUID())
}
