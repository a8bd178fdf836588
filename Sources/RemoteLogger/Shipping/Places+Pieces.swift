extension [Int] {
    /// The first half and the other one.
    var halves: [[Int]] {
        let middle = count / 2
        return [Array(self[..<middle]), Array(self[middle...])]
    }

    /// The elements in pieces of at most so many.
    func pieces(of size: Int) -> [[Int]] {
        guard count > size else { return isEmpty ? [] : [self] }
        return stride(from: 0, to: count, by: Swift.max(1, size)).map { start in
            Array(self[start..<Swift.min(count, start + Swift.max(1, size))])
        }
    }
}
