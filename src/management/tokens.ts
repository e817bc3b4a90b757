import { timingSafeEqual } from 'node:crypto'
import { statSync } from 'node:fs'
import { hashToken } from '../accounts/token.ts'
import { createEpisodes } from '../log/episodes.ts'
import { readText } from '../model/input.ts'
import { quote } from '../model/text.ts'

/** What a program sends as a bearer token, under the name that the audit log shows. */
interface Token {
  name: string
  /** SHA-256 in lowercase hex. */
  hash: string
}

/** The file can't be used, so the listener refuses every token. The message is for the operator. */
export class UnusableTokens extends Error {
  override name = 'UnusableTokens'
}

export interface Tokens {
  /** The token of an `Authorization` line; null if it is unknown. Throws UnusableTokens. */
  nameOf(authorization: string): string | null
}

const BEARER = /^bearer ([!-~]+)$/i
/** For so long after a change, a further one may leave the times of the file as they are. */
const SETTLED_MS = 1_000

/**
 * The tokens in a file, which is read again once it has changed. A token that is gone from it is
 * refused from then on. Throws UnusableTokens if the file is wrong now. If it is later, `onFault`
 * gets that once per episode.
 */
export function openTokens(path: string, onFault: (fault: Error) => void): Tokens {
  const episodes = createEpisodes<UnusableTokens>(onFault)
  let [stamp, tokens] = [stampOf(path), readTokens(path)]

  function readAgain(): readonly Token[] {
    const present = stampOf(path)
    if (present !== null && present === stamp) return tokens
    // A file that is wrong has no stamp, so the next request reads it again.
    stamp = null
    try {
      tokens = readTokens(path)
    } catch (error) {
      throw error instanceof UnusableTokens ? episodes.meet(() => error) : error
    }
    stamp = present
    episodes.end()
    return tokens
  }

  return {
    nameOf(authorization) {
      const known = readAgain()
      const [, token = ''] = BEARER.exec(authorization) ?? []
      const hash = Buffer.from(hashToken(token))
      // Compares with every token, so that the time says nothing.
      const found = known.filter((one) => timingSafeEqual(Buffer.from(one.hash), hash))
      return found[0]?.name ?? null
    },
  }
}

/** Throws UnusableTokens. */
export const countTokens = (path: string): number => readTokens(path).length

/** What differs once the file has changed. Null if it has just changed, or can't be read. */
function stampOf(path: string): string | null {
  try {
    const { ino, size, mtimeNs, ctimeNs, ctimeMs } = statSync(path, { bigint: true })
    const isSettled = Date.now() - Number(ctimeMs) > SETTLED_MS
    return isSettled ? `${ino} ${size} ${mtimeNs} ${ctimeNs}` : null
  } catch {
    return null
  }
}

const LINE = /^([\w.-]{1,64}) ([0-9a-f]{64})$/

/** The form of a line in the file. */
export const lineOf = ({ name, hash }: Token): string => `${name} ${hash}`

export function complaintAboutTokenName(name: string): string | null {
  return LINE.test(lineOf({ name, hash: '0'.repeat(64) }))
    ? null
    : 'have 1 to 64 letters, digits, dots, hyphens and underscores'
}

/** Messages never quote a line, because someone may have written a token there. */
function readTokens(path: string): Token[] {
  const file = `the file ${quote(path)} that MANAGEMENT_TOKENS_FILE names`
  const refuse = (complaint: string): never => {
    throw new UnusableTokens(`cannot use ${file}: ${complaint}`)
  }
  const read = readText(path, file, true)
  if ('complaint' in read) throw new UnusableTokens(read.complaint)
  const tokens: Token[] = []
  for (const [index, line] of read.text.split(/\r?\n/).entries()) {
    if (/^\s*(#.*)?$/.test(line)) continue
    const [, name, hash] = LINE.exec(line) ?? []
    if (name === undefined || hash === undefined)
      return refuse(
        `line ${index + 1} must be a name, a space and the SHA-256 of a token as 64 hex digits. ` +
          '`server-listing token create` prints such a line',
      )
    if (tokens.some((one) => one.name === name || one.hash === hash))
      return refuse(`line ${index + 1} has the name or the token of an earlier line`)
    tokens.push({ name, hash })
  }
  return tokens.length === 0 ? refuse('it has no token') : tokens
}
