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

    /// Puts elements in front.
    mutating func prepend(_ elements: [Element]) {
        slots.replaceSubrange(..<head, with: elements)
        head = 0
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
