import assert from 'node:assert/strict'
import { type Act, GOOD, OPTIONAL, SECOND, TWICE, VALUES } from './cases/mistakes.ts'
import { fill, type Json, rowOf } from './document.ts'
import { wordsOf } from '../records/commands.ts'

/** A document whose last row is a mistake, with the place and the beginning of the complaint. */
export interface Mistake {
  document: Json
  says: string
}

/** Mistakes of a site and of an operator. */
export function everyMistake(): Mistake[] {
  return [...wrongLists(), ...wrongTypes(), ...wrongValues(), ...twice()]
}

/** A site's rows need each field of a good row. */
export const missingFields = (): Mistake[] =>
  everyAct.flatMap((act) =>
    Object.keys(second(act))
      .filter((field) => act !== 'revoke_keys' || field === 'external_id')
      .map((field) => {
        const { [field]: _, ...rest } = second(act)
        return mistake(act, rest, `.${field}: is missing`)
      }),
  )

const everyAct = Object.keys(GOOD) as Act[]
const good = (act: Act): Json => rowOf(wordsOf(GOOD[act]))
const second = (act: Act): Json => rowOf(wordsOf(SECOND[act]))

const mistake = (act: Act, row: unknown, says: string): Mistake => ({
  document: { [act]: [good(act), row] },
  says: `${act}[1]${says}`,
})

const NO_LISTS = [7, null, 'text', {}, true]
/** A list in the place of a row. */
const NO_ROWS = [7, null, 'text', [], true]

const wrongLists = (): Mistake[] =>
  everyAct.flatMap((act) => [
    ...NO_LISTS.map((list) => ({ document: { [act]: list }, says: `${act}: must be an array` })),
    ...NO_ROWS.map((row) => mistake(act, row, ': must be an object')),
    mistake(act, { ...second(act), color: 'red' }, `.color: is not a field of ${act}`),
  ])

const NO_TEXTS = [7, true, {}, []]

function wrongTypes(): Mistake[] {
  return everyAct.flatMap((act) => {
    const [filled = '', emptied = ''] = (OPTIONAL[act] ?? '').split('|').map((one) => one.trim())
    const optional = `${filled} ${emptied}`.split(' ').filter((one) => one !== '')
    return [...Object.keys(second(act)), ...optional].flatMap((field) => {
      const isEmptied = emptied.split(' ').includes(field)
      const says = `.${field}: must be a string${isEmptied ? ' or null' : ''}`
      const values = isEmptied || field === 'external_id' ? NO_TEXTS : [...NO_TEXTS, null]
      return values.map((value) => mistake(act, { ...second(act), [field]: value }, says))
    })
  })
}

const wrongValues = (): Mistake[] =>
  VALUES.flatMap(([act, field, values, complaint]) =>
    values.map((value) => {
      const text = fill(JSON.parse(`"${value}"`) as string)
      return mistake(act, { ...second(act), [field]: text }, `.${field}: ${complaint}`)
    }),
  )

const twice = (): Mistake[] =>
  TWICE.map(([act, row, field]) => mistake(act, rowOf(wordsOf(row)), `.${field}: is `))

/** The words that refuse the document begin as they must. */
export function assertSays({ document, says }: Mistake, told: readonly string[]): void {
  const shown = JSON.stringify(document)
  assert.ok(
    told.some((line) => line.startsWith(`! ${says}`)),
    `${shown}\n  expected: ${says}\n  got: ${told.join(' · ') || 'no mistake'}`,
  )
}
