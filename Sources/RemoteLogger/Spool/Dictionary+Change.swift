// Changes of values in their place, by their index: the subscript by key allocates memory each time.
extension Dictionary {
    /// Changes the value of a key.
    ///
    /// - Returns: what the change gives; `nil` where the key isn't there.
    mutating func change<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        guard let index = index(forKey: key) else { return nil }
        return change(&values[index])
    }

    /// Changes every value. To look each key up again while going through the keys would copy the dictionary.
    mutating func changeEach(_ change: (Key, inout Value) -> Void) {
        var index = startIndex
        while index != endIndex {
            // Not `self[index].key`, which copies the value, too.
            change(keys[index], &values[index])
            formIndex(after: &index)
        }
    }
}
