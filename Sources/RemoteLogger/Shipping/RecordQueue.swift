/// A queue in a ring: what is taken from its front is let go at once, and nothing moves but when it grows or shrinks, or when something is taken
/// out of its middle.
struct RecordQueue<Element: Sendable>: Sendable {
    /// A power of two of them, or none.
    private var slots: [Element?] = []
    private var head = 0
    private(set) var count = 0

    /// A queue of more slots than this gives half of them back when most are empty.
    private static var kept: Int { 1_024 }

    var isEmpty: Bool { count == 0 }
    var first: Element? { count == 0 ? nil : slots[head] }

    func count(where isCounted: (Element) -> Bool) -> Int {
        (0..<count).count { slots[slot($0)].map(isCounted) ?? false }
    }

    mutating func changeEach(_ change: (inout Element) -> Void) {
        for place in 0..<count {
            guard var element = slots[slot(place)] else { continue }
            change(&element)
            slots[slot(place)] = element
        }
    }

    mutating func append(_ element: Element) {
        if count == slots.count { resize(to: max(16, count * 2)) }
        slots[slot(count)] = element
        count += 1
    }

    /// The element at a place from the front; `nil` behind the end.
    subscript(place: Int) -> Element? {
        place < count ? slots[slot(place)] : nil
    }

    /// Removes the first element that is meant. It costs what stands before it.
    ///
    /// - Returns: whether there is one.
    mutating func removeFirst(where isMeant: (Element) -> Bool) -> Bool {
        guard let found = (0..<count).first(where: { slots[slot($0)].map(isMeant) ?? false }) else { return false }
        for place in stride(from: found, to: 0, by: -1) { slots.swapAt(slot(place), slot(place - 1)) }
        _ = popFirst()
        return true
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        var element: Element?
        swap(&element, &slots[head])
        head = slot(1)
        count -= 1
        if slots.count > Self.kept, count < slots.count / 4 { resize(to: slots.count / 2) }
        return element
    }

    private func slot(_ place: Int) -> Int { (head &+ place) & (slots.count &- 1) }

    private mutating func resize(to size: Int) {
        var resized: [Element?] = []
        resized.reserveCapacity(size)
        for place in 0..<count { resized.append(slots[slot(place)]) }
        resized += repeatElement(nil, count: size - count)
        slots = resized
        head = 0
    }
}
