import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'

/** Too many passwords wait to be checked. Nothing has changed. */
export class Overloaded extends Error {
  override name = 'Overloaded'
}

/** The cost of a hash, with memory in KiB. docs/decisions/0015-sign-in.md gives the reasons. */
const COST: Cost = { memory: 32_768, passes: 3, parallelism: 1 }
const SALT_BYTES = 16
const HASH_BYTES = 32

/** Concurrent hashes. Each takes about 90 ms of one core and 32 MiB. */
const CONCURRENT_MAX = 2
/** Hashes that may wait, for about three seconds. */
const WAITING_MAX = 64

export interface Passwords {
  /** Hashes a password for the store. Throws Overloaded. */
  hash(password: string): Promise<string>
  /**
   * Checks a password against a stored hash. Null, for an unknown user, takes as long. Throws
   * Overloaded.
   */
  check(password: string, stored: string | null): Promise<Check>
}

export interface Check {
  isRight: boolean
  /** A new hash to store, if the password is right and the stored hash has another cost. */
  renewed: string | null
}

/**
 * Hashes and checks passwords, a few at a time, because no other request by a stranger costs this
 * much.
 */
export function createPasswords(): Passwords {
  const waiting: (() => void)[] = []
  let working = 0

  async function withLimit<T>(body: () => Promise<T>): Promise<T> {
    if (working >= CONCURRENT_MAX) {
      if (waiting.length >= WAITING_MAX)
        throw new Overloaded('too many passwords wait to be hashed')
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else working += 1
    try {
      return await body()
    } finally {
      const next = waiting.shift()
      if (next === undefined) working -= 1
      else next()
    }
  }

  return {
    hash: (password) => withLimit(() => hashNow(password)),
    check: (password, stored) => withLimit(() => checkNow(password, stored)),
  }
}

async function hashNow(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const key = await deriveArgon2id(password, salt, COST, HASH_BYTES)
  return `${phcPrefix(COST)}${base64(salt)}$${base64(key)}`
}

async function checkNow(password: string, stored: string | null): Promise<Check> {
  if (stored === null) {
    // Hash anyway, so that an unknown account takes as long as a wrong password.
    await hashNow(password)
    return { isRight: false, renewed: null }
  }
  const isRight = await matches(password, stored)
  const isOld = !stored.startsWith(phcPrefix(COST))
  return { isRight, renewed: isRight && isOld ? await hashNow(password) : null }
}

/** The start of a hash in the PHC string format. */
function phcPrefix({ memory, passes, parallelism }: Cost): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$`
}

const ARGON2ID = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

async function matches(password: string, stored: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt, hash] = ARGON2ID.exec(stored) ?? []
  if (salt === undefined || hash === undefined)
    throw new Error('a stored password hash is not argon2id')
  const cost = {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  }
  const wanted = Buffer.from(hash, 'base64')
  const key = await deriveArgon2id(password, Buffer.from(salt, 'base64'), cost, wanted.length)
  return timingSafeEqual(key, wanted)
}

interface Cost {
  memory: number
  passes: number
  parallelism: number
}

function deriveArgon2id(
  password: string,
  nonce: Uint8Array,
  cost: Cost,
  tagLength: number,
): Promise<Buffer> {
  const message = normalized(password)
  return new Promise((resolve, reject) => {
    argon2('argon2id', { ...cost, message, nonce, tagLength }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    )
  })
}

/** Keyboards compose some characters in more than one way. */
function normalized(password: string): string {
  return password.normalize('NFKC')
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '')
}
