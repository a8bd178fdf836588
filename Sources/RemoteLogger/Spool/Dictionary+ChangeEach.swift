extension Dictionary {
    /// Changes every value in its place. To look each key up again while going through the keys would copy the dictionary.
    mutating func changeEach(_ change: (Key, inout Value) -> Void) {
        var index = startIndex
        while index != endIndex {
            change(self[index].key, &values[index])
            formIndex(after: &index)
        }
    }
}
