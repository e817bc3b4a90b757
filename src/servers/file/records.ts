import { count, countOf, quote } from '../../model/text.ts'
import { trimAddress } from '../address.ts'
import { readValue } from '../server-entry.ts'
import { COLUMNS } from './columns.ts'

/** Ignored fields that are named. */
export const IGNORED_NAMED_MAX = 10
/** Of an ignored field's name, in code points. */
const IGNORED_LENGTH_MAX = 24

/** What an import does not take from a file. */
export interface LeftOut {
  /** The names of fields that it ignores. `…` stands for more. */
  ignored: string[]
  /** The number of servers in other places than the one that the import goes to. */
  elsewhere: number
  /** The number of addresses from which it removes a scheme or a slash. */
  shortened: number
}

/** The fields of an item that the rules of a server want, and what is wrong with the others. */
export interface TakenRecord {
  /** Undefined if the item is left out. */
  record?: unknown
  mistakes: string[]
}

export interface RecordTaker {
  /**
   * Joins `port` to the address, and notes the fields that no rule of a server takes. Leaves out a
   * server that `server list` shows in another place than the one that the import goes to: under
   * an organization, or none (null).
   */
  take(item: unknown): TakenRecord
  /** The owners that `server list` names. */
  owners: ReadonlySet<unknown>
  leftOut(): LeftOut
}

export function takeRecords(organization: string | null): RecordTaker {
  const ignored = new Set<string>()
  const ignore = (name: string) => {
    const shown = cutName(name)
    if (!ignored.has(shown) && ignored.size <= IGNORED_NAMED_MAX)
      ignored.add(ignored.size < IGNORED_NAMED_MAX ? shown : '…')
  }
  const owners = new Set<unknown>()
  let elsewhere = 0
  let shortened = 0
  const shorten = (address: unknown) => {
    if (typeof address !== 'string') return address
    const trimmed = trimAddress(address, true)
    if (trimmed !== address) shortened += 1
    return trimmed
  }
  return {
    take(item) {
      if (!isObject(item)) return { record: item, mistakes: [] }
      const said = (name: string) => readValue(item[name])
      const { organization: _, port: _port, id, ...record } = item
      if (isId(id)) record.id = id.trim().toLowerCase()
      for (const name of Object.keys(item))
        if ((name === 'id' ? !isId(id) : !isTaken(name)) && said(name) !== null) ignore(name)
      const [place, owner] = [said('organization'), said('created_by') ?? null]
      if (owner !== null) owners.add(owner)
      const isPlace = place === null || typeof place === 'string'
      if (isPlace && place !== organization) {
        elsewhere += 1
        return { mistakes: [] }
      }
      const mistakes: string[] = []
      if (!isPlace && place !== undefined)
        mistakes.push(`"organization" must be a string: ${quote(place)}`)
      const joined = joinPort(shorten(said('address')), said('port'))
      if ('complaint' in joined) mistakes.push(joined.complaint)
      else record.address = joined.address ?? undefined
      return { record, mistakes }
    },
    owners,
    leftOut: () => ({ ignored: [...ignored], elsewhere, shortened }),
  }
}

/** A foreign file may have ids of another kind. */
const isId = (id: unknown): id is string =>
  typeof id === 'string' && /^\s*[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\s*$/i.test(id)

const isTaken = (name: string): boolean =>
  COLUMNS.includes(name) || name === 'organization' || name === 'port'

function cutName(name: string): string {
  const points = Array.from(name.slice(0, 2 * IGNORED_LENGTH_MAX + 2))
  const isLong = points.length > IGNORED_LENGTH_MAX
  return isLong ? `${points.slice(0, IGNORED_LENGTH_MAX - 1).join('')}…` : name
}

function isObject(item: unknown): item is Record<string, unknown> {
  return typeof item === 'object' && item !== null && !Array.isArray(item)
}

function joinPort(address: unknown, port: unknown): { address: unknown } | { complaint: string } {
  if (port === undefined || port === null) return { address }
  const text = typeof port === 'number' ? String(port) : port
  if (typeof text !== 'string' || !/^[1-9]\d{0,4}$/.test(text) || Number(text) > 65_535)
    return { complaint: `"port" must be a number from 1 to 65535: ${quote(port)}` }
  if (typeof address !== 'string') return { address }
  const [, host, own] = /^(\[[^\]]*\]|[^:]*)(?::([^:]*))?$/.exec(address) ?? []
  // The rule for addresses says what is wrong with others, such as IPv6 without brackets.
  if (!host || own === text) return { address }
  if (own === undefined) return { address: `${host}:${text}` }
  return {
    complaint: `"port" is ${text}, but "address" is ${quote(address)}. Leave one of them out`,
  }
}

/**
 * What an import into this place leaves out of a file, as a sentence. Null if that is nothing.
 */
export function sayLeftOut(
  { ignored, elsewhere, shortened }: LeftOut,
  organization: string | null,
): string | null {
  const place = organization === null ? 'under organizations' : `outside ${organization}`
  const fields = ignored.map((name) => (name === '…' ? name : quote(name))).join(', ')
  const parts = [
    ...(ignored.length > 0 ? [`ignores ${fields}`] : []),
    ...(elsewhere > 0 ? [`leaves out ${countOf(elsewhere, 'server')} ${place}`] : []),
    ...(shortened > 0 ? [`shortens ${sayAddresses(shortened)}`] : []),
  ]
  return parts.length === 0 ? null : `the import ${parts.join(' and ')}`
}

function sayAddresses(shortened: number): string {
  const addresses = shortened === 1 ? '1 address' : `${count(shortened)} addresses`
  return `${addresses} by a scheme such as https:// or a slash`
}
