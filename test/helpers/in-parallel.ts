/** Does something for each item, a few at a time: kubectl spends most of its time starting. */
export async function inParallel<T>(
  items: T[],
  work: (item: T) => Promise<void>,
  atOnce = 4,
): Promise<void> {
  const queue = items.values()
  const worker = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({length: atOnce}, worker))
}
