/// Arrays that are decoded element by element without a container: what takes the standard library some look-ups for each element, and moves
/// them all whenever the array grows.
protocol JSONLongArray {
    static func decode(from document: JSONDocument, at place: JSONPlace) throws -> Self?
}

extension JSONDocument {
    /// From so many elements on it is worth finding out whether a type is such an array.
    static let fewElements = 16

    /// For how many values memory may be taken before they have been read: no more than four times that of the text, since its elements may be
    /// something else than what is wanted. What the arrays around have taken counts, too, until they are complete.
    func room(forElementsOf size: Int) -> Int {
        let text = storage.pointee.origin + storage.pointee.count
        let bound = text > .max / 4 ? .max : max(1 << 16, 4 * text)
        return max(bound &- storage.pointee.reserved, 0) / max(size, 1)
    }
}

extension Array: JSONLongArray where Element: Decodable {
    /// `nil` where so much memory might be in vain.
    static func decode(from document: JSONDocument, at place: JSONPlace) throws -> [Element]? {
        let array = try document.array(at: place)
        let count = document.word(array.index + 1).high
        guard count <= document.room(forElementsOf: MemoryLayout<Element>.stride) else { return nil }
        // No more than the room, and so no overflow.
        let memory = count * MemoryLayout<Element>.stride
        document.storage.pointee.reserved &+= memory
        defer { document.storage.pointee.reserved &-= memory }
        return try [Element](unsafeUninitializedCapacity: count) { elements, done in
            var index = array.index + JSONWord.arrayHead
            for number in 0..<count {
                let element = JSONPlace(node: index, container: array.index, number: number)
                elements.initializeElement(at: number, to: try document.decode(Element.self, at: element))
                done = number + 1
                index = document.end(ofValueAt: index)
            }
        }
    }
}
