import type { DeclaredKey } from './declared-state.ts'

/**
 * Whether applying revokes the user's active key with this hash: the file has it as revoked, or
 * prunes it. An absent list prunes nothing.
 */
export function isRevoked(
  hash: string,
  declared: readonly DeclaredKey[] | undefined,
  prune: boolean,
): boolean {
  if (declared === undefined) return false
  const key = declared.find((one) => one.hash === hash)
  return key === undefined ? prune : key.revoked_at !== undefined && key.revoked_at !== null
}
