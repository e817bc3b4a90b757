import type { Answer } from '../../../fixtures/requests.ts'
import { type Entry as Input, everyEntry, everyInput } from '../../../records/catalogue.ts'
import { send } from '../../../records/requests.ts'
import { askedOn, type Stage } from '../../../records/stage.ts'
import type { Names } from '../../../rows/names.ts'
import { namesIn } from '../../../rows/watch.ts'
import { isWithoutAccess } from '../shape.ts'
import { type Entry, NEW } from './audited.ts'

/** One request to the dashboard, from the catalogue in test/records/requests. */
export interface Visit {
  name: string
  status: number
  /** What a repetition may answer if the first visit succeeded. */
  repeated: number
  /** Its entries in the audit log. */
  entries: Entry[]
  /** Visits that change nothing, that change something, and that check or set a password. */
  kind: 'reading' | 'changing' | 'password'
  isInParts: boolean
  /** True for a row that exists only between two of the parts. */
  isBetween?: (table: string, row: string) => boolean
  /** Tables that record the visit. */
  following: string[]
  visit(): Promise<Answer>
}

/** Its answer stands without its entry. */
const REFUSED = 'visitor POST /sign-in email=ada@example.com password=wrong'

/** The inputs of these transcripts that succeed, and one that is refused. */
export async function visitsOf(stage: Stage, isOf: (file: string) => boolean): Promise<Visit[]> {
  const names = await namesIn(stage.database, stage.rowNames)
  const refused = everyInput().filter(({ input }) => input.text === REFUSED)
  return [...everyEntry(), ...refused]
    .filter(({ file }) => isOf(file))
    .map((input) => visitOf(stage, names, input))
}

function visitOf(stage: Stage, names: Names, { input, status, repeated, rows }: Input): Visit {
  const asked = askedOn(stage, input.text)
  const isDeletion = asked.path === '/dashboard/account/delete' && asked.method === 'POST'
  const beginsSession = rows.some((row) => row.startsWith('sessions + '))
  const isRefusal = input.text === REFUSED
  return {
    name: input.text,
    status,
    repeated,
    entries: rows.flatMap((row) => entryIn(row, names)),
    kind: kindOf(asked.fields, rows),
    isInParts: isDeletion,
    ...(isDeletion ? { isBetween: isWithoutAccess } : {}),
    following: beginsSession ? ['audit_log', 'sessions'] : isRefusal ? ['audit_log'] : [],
    visit: () => send(stage.browserOf(asked.people[0]!), asked),
  }
}

function kindOf(fields: object, rows: readonly string[]): Visit['kind'] {
  if ('password' in fields) return 'password'
  return rows.length > 0 ? 'changing' : 'reading'
}

/** Reads a row of the audit log in a record. */
function entryIn(row: string, names: Names): Entry[] {
  const [, written, user = '', action = ''] = AUDITED.exec(row) ?? []
  if (written === undefined) return []
  const subject = readText(written).replaceAll(NAME, (name) => names.values.get(name) ?? NEW)
  return [[names.values.get(user) ?? NEW, readText(action), names.values.get(subject) ?? subject]]
}

const AUDITED = /^audit_log \+ ("[^"]*"|\S+) occurred_at=now user_id=(\S+) action=("[^"]*"|\S+) /
/** What stands for an id in a record. */
const NAME = /\b(?:server|key|org|session):[^\s,]+/g

function readText(written: string): string {
  return written.startsWith('"') ? (JSON.parse(written) as string) : written
}
