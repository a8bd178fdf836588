/// A queue in an array: what is taken from its front is let go at once, and the space is reclaimed now and then.
struct RecordQueue<Element: Sendable>: Sendable {
    private var slots: [Element?] = []
    private var head = 0

    var count: Int { slots.count - head }
    var isEmpty: Bool { head == slots.count }
    var first: Element? { head < slots.count ? slots[head] : nil }

    func count(where isCounted: (Element) -> Bool) -> Int {
        slots[head...].count { $0.map(isCounted) ?? false }
    }

    mutating func append(_ element: Element) {
        slots.append(element)
    }

    /// The element at a place from the front; `nil` behind the end.
    subscript(place: Int) -> Element? {
        place < count ? slots[head + place] : nil
    }

    /// Removes the first element that is meant. It costs what stands before it.
    ///
    /// - Returns: whether there is one.
    mutating func removeFirst(where isMeant: (Element) -> Bool) -> Bool {
        guard let index = slots[head...].firstIndex(where: { $0.map(isMeant) ?? false }) else { return false }
        for place in stride(from: index, to: head, by: -1) { slots.swapAt(place, place - 1) }
        _ = popFirst()
        return true
    }

    mutating func popFirst() -> Element? {
        guard head < slots.count else { return nil }
        let element = slots[head]
        slots[head] = nil
        head += 1
        if head == slots.count {
            slots.removeAll(keepingCapacity: slots.count <= 1_024)
            head = 0
        } else if head >= 256, head * 2 >= slots.count {
            slots.removeFirst(head)
            head = 0
        }
        return element
    }
}
