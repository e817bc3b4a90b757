import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'
import { type DatabaseConfig, nameDatabase } from '../../src/config/database-url.ts'
import { createNames as createRowNames, type Names as RowNames } from '../rows/names.ts'
import { openReader, type Reader } from '../rows/tables.ts'
import { createShortener } from './as-above.ts'
import { type Place, playCommands } from './commands.ts'
import { createNames } from './names.ts'
import { type Watch, watchRows } from './rows.ts'
import { type Input, type Play, readTranscript } from './transcript.ts'

/** A transcript of commands, and where they run. */
export interface Story {
  inputs: Input[]
  place: Place
  play: Play
}

interface StoryOptions {
  /** The schema of our tables on PostgreSQL. */
  schema?: string
  watch?: (reader: Reader, names: RowNames) => Watch
}

export type StoryDatabase = Exclude<DatabaseConfig, { engine: null }>

const FOLDER = join(import.meta.dirname, 'commands')
/** The names of the transcripts. Each begins without a database. */
export const STORIES = readdirSync(FOLDER).map((file) => basename(file, '.txt'))
/** Those whose inputs work on a database, and ask no service. */
export const DATABASE_STORIES = STORIES.filter(
  (story) => !['api', 'command-lines', 'environment', 'help'].includes(story),
)
/** No port is free for a service of the test, and no service answers on port 1. */
const PORTS = { PORT: '0', DASHBOARD_PORT: '0', OPS_PORT: '1' }

export function pathOf(story: string): string {
  return join(FOLDER, `${story}.txt`)
}

/** Opens a transcript on a database. The folder has the files of the commands. */
export async function openStory(
  t: TestContext,
  story: string,
  database: StoryDatabase,
  folder: string,
  { schema, watch = watchRows }: StoryOptions = {},
): Promise<Story> {
  const inputs = readTranscript(pathOf(story))
  const names = createNames(inputs)
  names.add('folder', folder)
  names.add('database', nameDatabase(database))
  const reader = await openReader(database, schema)
  t.after(reader.close)
  const [url, file] =
    database.engine === 'postgres'
      ? [database.url, null]
      : [`sqlite:${database.path}`, database.path]
  const place: Place = {
    env: { DATABASE_URL: url, ...PORTS },
    folder,
    names,
    watch: watch(reader, createRowNames(folder)),
    shorten: createShortener(),
    file,
  }
  return { inputs, place, play: playCommands(place) }
}
