import { createRequire, syncBuiltinESMExports } from 'node:module'

/**
 * Makes hashing a password cheap, in this process: it is made to take long, and nothing here is about how long it
 * takes.
 */
export function makePasswordsCheap(): void {
  const crypto = createRequire(import.meta.url)('node:crypto') as { scrypt: Scrypt }
  const { scrypt } = crypto
  crypto.scrypt = (password, salt, length, options, callback) =>
    scrypt(password, salt, length, { ...options, N: 2, r: 1, p: 1 }, callback)
  syncBuiltinESMExports()
}

type Scrypt = (
  password: unknown,
  salt: unknown,
  length: number,
  options: object,
  callback: unknown,
) => void
