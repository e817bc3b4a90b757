import { hash, randomBytes } from 'node:crypto'

const TOKEN_BYTES = 32

/** Makes the secret of a session or a sign-in link: 32 random bytes in base64url. */
export function createToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** The stored form of a token: SHA-256 in lowercase hex. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}
