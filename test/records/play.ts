import { presentInstant } from '../../src/model/instant.ts'
import type { Person } from '../fixtures/person.ts'
import type { Watch } from '../rows/watch.ts'
import { assertSent, formOf } from './catalogue.ts'
import { createNames, type Names } from './names.ts'
import type { playOthers } from './others.ts'
import { saying } from './page-text.ts'
import { type Asked, describe, readRequest, send } from './requests.ts'
import type { Stage } from './stage.ts'
import type { Input, Play } from './transcript.ts'

/**
 * Time before each input, in which the token buckets fill up. All inputs of a file together take
 * less than the ten minutes after which Ada needs the password again.
 */
const REST_MS = 6_000

/** Its rows expire after a minute, which a slow machine exceeds. */
const EXPIRING = 'removed_claims '

/** Plays the inputs of one transcript. */
export interface Player {
  stage: Stage
  names: Names
  /** Begins anew with the first rows. */
  restore(): Promise<void>
  rest(): void
  /** What a person gets for a request, and the rows that it has changed. */
  ask(person: Person, asked: Asked): Promise<Played>
}

export interface Played {
  status: number
  /** The answer in one line. */
  says: string
  answer: string[]
  rows: string[]
}

/**
 * A record has what each person gets and the rows that all of them have changed. A form for one
 * person is sent again from another copy of the browser, and `others` sends it for everyone else.
 */
export function playRequests(
  stage: Stage,
  watch: Watch,
  inputs: readonly Input[],
  others: typeof playOthers,
): Play {
  const player = createPlayer(stage, watch, inputs)
  const { names, restore, ask } = player
  const known = new Set<string>()
  let people = new Map<string, Person>()

  function personCalled(name: string): Person {
    const person = people.get(name) ?? stage.browserOf(name)
    people.set(name, person)
    return person
  }

  async function begin(): Promise<void> {
    await restore()
    names.forgetNumbered()
    people = new Map()
  }

  async function playFor(asked: Asked): Promise<[lines: string[], played: Played[]]> {
    const played: Played[] = []
    for (const name of asked.people) played.push(await ask(personCalled(name), asked))
    return [[...linesOf(asked.people, played), ...played.flatMap(({ rows }) => rows)], played]
  }

  return async ({ goesOn, isFollowed, text }) => {
    if (!goesOn) await begin()
    player.rest()
    const asked = readRequest(names.fill(text))
    const twin = stage.browserOf(asked.people[0]!)
    const [lines, [first]] = await playFor(asked)
    const form = formOf(asked)
    if (goesOn || first!.status >= 400 || known.has(form)) return lines
    known.add(form)
    const again = asked.method === 'GET' ? [] : againLines(first!, await ask(twin, asked))
    const rest = [...again, ...(await others(player, text, first!))]
    if (isFollowed) {
      await begin()
      await playFor(asked)
    }
    return [...lines, ...rest]
  }
}

function createPlayer(stage: Stage, watch: Watch, inputs: readonly Input[]): Player {
  const { dashboard, tables } = stage
  const names = createNames(inputs)
  for (const [name, value] of Object.entries(stage.named)) names.add(name, value)
  // The clock of the dashboard is ahead of the one of the machine.
  let aheadUs = 0
  let isChanged = false
  return {
    stage,
    names,
    async restore() {
      if (isChanged) await tables.restore()
      isChanged = false
      watch.restart()
    },
    rest() {
      dashboard.elapse(REST_MS)
      aheadUs += REST_MS * 1_000
    },
    async ask(person, asked) {
      if (asked.fields.email !== undefined) watch.typed(asked.fields.email)
      const start = presentInstant()
      const answer = await send(person, asked)
      const { lines, page } = await describe(person, asked, answer)
      assertSent(page)
      const rows = await watch.changes({ start, end: presentInstant() + aheadUs })
      isChanged ||= rows.length > 0
      const lasting = rows.filter((line) => !line.startsWith(EXPIRING))
      return {
        status: answer.status,
        says: saying(answer),
        answer: withoutOrder(lines.map((line) => names.hide(line))),
        rows: lasting.map((line) => `  ${line}`),
      }
    },
  }
}

/** Entries of one millisecond come in the order of their random ids. */
function withoutOrder(lines: readonly string[]): string[] {
  const begin = lines.findIndex(isEntry)
  if (begin < 0) return [...lines]
  const behind = lines.slice(begin)
  const length = behind.findIndex((line) => !isEntry(line))
  const entries = behind.slice(0, length < 0 ? undefined : length)
  const rest = behind.slice(entries.length)
  return [...lines.slice(0, begin), ...entries.toSorted(), ...withoutOrder(rest)]
}

const isEntry = (line: string) => /^ *\| \{time\} \|/.test(line)

/** What each person gets, once if all get the same. */
function linesOf(people: readonly string[], played: readonly Played[]): string[] {
  const all = people.map((name, at) => [name, played[at]!.answer] as const)
  const alike = [...Map.groupBy(all, ([, lines]) => lines.join('\n')).values()]
  return alike.flatMap((group) => {
    const [, lines] = group[0]!
    return alike.length === 1 ? lines : [`${group.map(([name]) => name).join(', ')}:`, ...lines]
  })
}

/** What a second copy of the browser gets, unless it gets the same and changes nothing. */
function againLines(first: Played, { answer, rows }: Played): string[] {
  const isAlike = answer.join('\n') === first.answer.join('\n')
  // A limit counts each attempt.
  const others = rows.filter((row) => !row.startsWith('  sign_in_attempts '))
  if (isAlike && others.length === 0) return []
  return ['again:', ...(isAlike ? [] : answer), ...others]
}
