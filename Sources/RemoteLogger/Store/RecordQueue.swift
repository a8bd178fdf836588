/// A queue in chunks of one size. Removing an element from the front releases it at once, and its memory chunk by chunk; elements move only
/// on removals from the middle. Growing never copies more than a chunk, because it happens on the logging thread.
struct RecordQueue<Element: Sendable>: Sendable {
    /// Chunks of equal size, with `nil` in unused slots. No chunk is ever initialized or cleared as a whole later, which would delay a
    /// call.
    private var pieces: [[Element?]] = []
    /// The index of the first element in the first chunk.
    private var head = 0
    private(set) var count = 0
    /// A chunk without elements, so that a queue at its maximum length doesn't allocate.
    private var spare: [Element?] = []

    /// The number of elements in a chunk.
    static var size: Int { 128 }

    var isEmpty: Bool { count == 0 }
    var first: Element? { self[0] }

    func count(where isCounted: (Element) -> Bool) -> Int {
        (0..<count).count { self[$0].map(isCounted) ?? false }
    }

    mutating func changeEach(_ change: (inout Element) -> Void) {
        for index in 0..<count {
            guard var element = self[index] else { continue }
            change(&element)
            set(index, element)
        }
    }

    private var isFull: Bool { head + count == pieces.count * Self.size }

    mutating func append(_ element: Element) {
        if isFull {
            var piece: [Element?] = []
            swap(&piece, &spare)
            pieces.append(piece.isEmpty ? Array(repeating: nil, count: Self.size) : piece)
        }
        count += 1
        set(count - 1, element)
    }

    /// The element at an index from the front; `nil` past the end.
    subscript(index: Int) -> Element? {
        index < count ? pieces[(head + index) / Self.size][(head + index) % Self.size] : nil
    }

    private mutating func set(_ index: Int, _ element: Element?) {
        pieces[(head + index) / Self.size][(head + index) % Self.size] = element
    }

    /// Removes the first element that satisfies the predicate. The cost is proportional to the elements before it.
    ///
    /// - Returns: The removed element; `nil` if there is none.
    mutating func removeFirst(where isMeant: (Element) -> Bool) -> Element? {
        guard let found = (0..<count).first(where: { self[$0].map(isMeant) ?? false }) else { return nil }
        let removed = self[found]
        for index in stride(from: found, to: 0, by: -1) { set(index, self[index - 1]) }
        _ = popFirst()
        return removed
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        var element: Element?
        swap(&element, &pieces[0][head])
        head += 1
        count -= 1
        if count == 0 {
            head = 0
        } else if head == Self.size {
            spare = pieces.removeFirst()
            head = 0
        }
        return element
    }
}

/// A list with usually at most one element: the first one needs no allocation.
package struct ShortList<Element: Sendable>: Sendable {
    private var first: Element?
    private var others: [Element] = []

    /// Creates an empty list.
    package init() {}

    /// Creates a list of one element.
    package init(_ element: Element) {
        first = element
    }

    /// Replaces the method of `Sequence`, which copies the list first.
    package func forEach(_ body: (Element) -> Void) {
        if let first { body(first) }
        if !others.isEmpty { others.forEach(body) }
    }

    package mutating func append(_ element: Element) {
        if first == nil { first = element } else { others.append(element) }
    }
}

extension ShortList: RandomAccessCollection, MutableCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { first == nil ? 0 : 1 + others.count }

    package subscript(position: Int) -> Element {
        get {
            if position == 0, let first { return first }
            return others[position - 1]
        }
        set {
            if position == 0 { first = newValue } else { others[position - 1] = newValue }
        }
    }
}
