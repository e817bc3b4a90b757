const DRAWS = 2_000

/**
 * Prints how much a statistic depends on chance, and returns its value. Bootstrap: the middle 95 %
 * of the values of random draws shows the influence of chance.
 */
export function printInterval<Item>(
  name: string,
  items: readonly Item[],
  statistic: (some: readonly Item[]) => number,
): number {
  const value = statistic(items)
  const draw = () => statistic(items.map(() => items[Math.floor(Math.random() * items.length)]!))
  const draws = Array.from({ length: DRAWS }, draw).toSorted((a, b) => a - b)
  const [low, high] = [0.025, 0.975].map((share) => draws[Math.floor(DRAWS * share)]!.toFixed(3))
  console.log(
    `  ${name} ${value.toFixed(3)}; 95 % of ${DRAWS} random draws are between ${low} and ${high}`,
  )
  return value
}
