import { hash, randomUUID } from 'node:crypto'

/** The id that this user gets with this tag. Another user can neither compute nor take it. */
export function idFromFormTag(userId: string, tag: string): string {
  if (tag === '') return randomUUID()
  const digits = hash('sha256', `${userId}\n${tag}`, 'hex')
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
}
