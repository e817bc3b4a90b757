import { eventually } from '../../fixtures/eventually.ts'
import { type Answer, ask } from '../../fixtures/requests.ts'
import { keyNamed } from './life.ts'

/** Statuses that say nothing about a key: within a second of a claim or a start, or when busy. */
const UNDECIDED = [429, 502]

/** The first answer of the API that decides about a key of the site. */
export function decidedAnswer(port: number, keyName: string): Promise<Answer> {
  return decidedAnswerTo(port, keyNamed(keyName))
}

export async function decidedAnswerTo(port: number, key: string): Promise<Answer> {
  let answer: Answer | undefined
  await eventually(async () => {
    answer = await ask(port, { key })
    return !UNDECIDED.includes(answer.status)
  })
  return answer!
}
