import { hashPassword, verifyPassword } from 'better-auth/crypto'
import { Overloaded } from '../listing/accounts.ts'

/** Passwords worked on at a time: each takes some 50 ms of one core and 16 MB. */
const AT_A_TIME = 2
/** How many may wait for that, which is about two seconds. */
const WAITING_MAX = 64

export interface Passwords {
  hash(password: string): Promise<string>
  verify(data: { hash: string; password: string }): Promise<boolean>
}

/** Hashes and checks passwords, a few at a time: it is the one thing here that a stranger can make expensive. */
export function createPasswords(): Passwords {
  const waiting: (() => void)[] = []
  let working = 0

  async function inTurn<T>(body: () => Promise<T>): Promise<T> {
    if (working >= AT_A_TIME) {
      if (waiting.length >= WAITING_MAX) throw new Overloaded('too many passwords to be checked')
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
    hash: (password) => inTurn(() => hashPassword(password)),
    verify: (data) => inTurn(() => verifyPassword(data)),
  }
}
