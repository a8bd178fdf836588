/// A queue in pieces of one size: what is taken from its front is let go at once, piece by piece its memory is, too, and nothing moves
/// but when something is taken out of its middle. To grow never copies more than a piece: it is done by who logs.
struct RecordQueue<Element: Sendable>: Sendable {
    /// All of one size, with `nil` where no element is: none is ever emptied or filled as a whole, which would be a call's time.
    private var pieces: [[Element?]] = []
    /// The place of the first element in the first piece.
    private var head = 0
    private(set) var count = 0
    /// A piece without elements, so that a queue that is as long as it may be allocates nothing.
    private var spare: [Element?] = []

    /// The elements of a piece.
    static var size: Int { 128 }

    var isEmpty: Bool { count == 0 }
    var first: Element? { self[0] }

    func count(where isCounted: (Element) -> Bool) -> Int {
        (0..<count).count { self[$0].map(isCounted) ?? false }
    }

    mutating func changeEach(_ change: (inout Element) -> Void) {
        for place in 0..<count {
            guard var element = self[place] else { continue }
            change(&element)
            set(place, element)
        }
    }

    /// Whether the next element begins a piece that has to be allocated.
    var isAboutToGrow: Bool { spare.isEmpty && !pieces.isEmpty && isFull }

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

    /// The element at a place from the front; `nil` behind the end.
    subscript(place: Int) -> Element? {
        place < count ? pieces[(head + place) / Self.size][(head + place) % Self.size] : nil
    }

    private mutating func set(_ place: Int, _ element: Element?) {
        pieces[(head + place) / Self.size][(head + place) % Self.size] = element
    }

    /// Removes the first element that is meant. It costs what stands before it.
    ///
    /// - Returns: it; `nil` if there is none.
    mutating func removeFirst(where isMeant: (Element) -> Bool) -> Element? {
        guard let found = (0..<count).first(where: { self[$0].map(isMeant) ?? false }) else { return nil }
        let removed = self[found]
        for place in stride(from: found, to: 0, by: -1) { set(place, self[place - 1]) }
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

/// A list that has one element at most most of the time: the first one takes no allocation.
package struct ShortList<Element: Sendable>: Sendable {
    private var first: Element?
    private var others: [Element] = []

    /// No elements.
    package init() {}

    /// A list of one.
    package init(_ element: Element) {
        first = element
    }

    /// In place of the sequence's, which copies the list first.
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
