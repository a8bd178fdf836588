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
