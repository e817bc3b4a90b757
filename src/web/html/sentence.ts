/** Turns a complaint, as a command prints it, into a sentence for a page. */
export function sentence(complaint: string): string {
  return `${complaint.charAt(0).toUpperCase()}${complaint.slice(1)}.`
}
