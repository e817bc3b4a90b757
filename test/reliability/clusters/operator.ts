import { hashApiKey } from '../../../src/model/key-hash.ts'
import type { OtherProcess } from '../history/traffic/other-process.ts'
import type { Operator } from '../history/traffic/scene.ts'
import type { Directory } from './directory.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'

/** The operator of all clusters, who works on the cluster of each owner. */
export interface SplitOperator extends Operator {
  /** Runs work on an owner while the operator does nothing else to that owner. */
  alone<T>(owner: string, work: () => Promise<T>): Promise<T>
}

export function createSplitOperator(
  directory: Directory,
  operators: readonly OtherProcess[],
): SplitOperator {
  const last = new Map<string, Promise<unknown>>()
  let users = 0

  function alone<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const done = (last.get(owner) ?? Promise.resolve()).then(work)
    last.set(
      owner,
      done.catch(() => {}),
    )
    return done
  }
  const at = <T>(owner: string, work: (operator: Operator) => Promise<T>) =>
    alone(owner, () => work(operators[directory.placeOf(owner)! - 1]!))

  return {
    alone,
    async insertUser(user) {
      users += 1
      await directory.place(user.id, 1 + (users % operators.length))
      return at(user.id, (operator) => operator.insertUser(user, operatorAt(presentInstant())))
    },
    issueKey: (userId, name) =>
      at(userId, async (operator) => {
        const issued = await operator.issueKey(userId, name)
        // Before the key is shown, every router knows where it is valid.
        await directory.assign(hashApiKey(issued.key), userId)
        return issued
      }),
    listApiKeys: (userId, ...rest) =>
      at(userId, (operator) => operator.listApiKeys(userId, ...rest)),
    revokeApiKey: (userId, ...rest) =>
      at(userId, (operator) => operator.revokeApiKey(userId, ...rest)),
    saveServers: (userId, ...rest) =>
      at(userId, (operator) => operator.saveServers(userId, ...rest)),
    // Members of one organization stay together. Here, each owner has an organization alone.
    ensureOrganization: (slug, userId) =>
      at(userId, (operator) =>
        operator.ensureOrganization(
          `${slug}-${userId.slice(0, 8)}`,
          userId,
          operatorAt(presentInstant()),
        ),
      ),
  }
}
