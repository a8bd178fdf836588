// Where a dialect is asked. A text without one gets past all of it by a look at a Boolean.
extension JSONDocument {
    @inline(__always) var hasDialect: Bool { storage.pointee.hasDialect }

    /// Whether values of a type are the dialect's to read.
    @inline(__always) func dialectReads(_ type: any Any.Type) -> Bool {
        guard hasDialect else { return false }
        let id = ObjectIdentifier(type)
        for known in storage.pointee.dialectTypes where known.type == id { return known.isRead }
        return askDialect(type)
    }

    @inline(never) private func askDialect(_ type: any Any.Type) -> Bool {
        let isRead = reader.dialect?.reads(type) ?? false
        // A few: a type may be made of any number of others.
        if storage.pointee.dialectTypes.count < 32 { storage.pointee.dialectTypes.append((ObjectIdentifier(type), isRead)) }
        return isRead
    }

    /// A value of a type that the dialect reads.
    @inline(never) func readByDialect<Value: Decodable>(_ type: Value.Type, at place: JSONPlace) throws -> Value {
        guard let dialect = reader.dialect else { throw mismatch(type, at: place) }
        return try dialect.read(type, from: JSONNode(self, place))
    }

    /// A text in which the dialect may find a number.
    private func dialectText(_ type: any Any.Type, at place: JSONPlace) throws -> (dialect: any JSONDialect, text: String) {
        let word = word(place.index)
        guard let dialect = reader.dialect, word.kind == .ascii || word.kind == .text || word.kind == .escaped else {
            throw mismatch(type, at: place)
        }
        return (dialect, string(word))
    }

    @inline(never) func dialectInteger<Value: FixedWidthInteger>(at place: JSONPlace) throws -> Value {
        let (dialect, text) = try dialectText(Value.self, at: place)
        guard let value = dialect.integer(of: text, as: Value.self) else { throw noNumber(text, Value.self, at: place) }
        return value
    }

    @inline(never) func dialectFloating<Value: BinaryFloatingPoint & LosslessStringConvertible>(at place: JSONPlace) throws -> Value {
        let (dialect, text) = try dialectText(Value.self, at: place)
        guard let value = dialect.floating(of: text, as: Value.self) else { throw noNumber(text, Value.self, at: place) }
        return value
    }

    private func noNumber(_ text: String, _ type: any Any.Type, at place: JSONPlace) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: path(of: place),
                debugDescription: "“\(SerializationError.excerpt(text, upTo: 50))” isn't a number that \(type) can hold."))
    }

    /// Whether a value stands in the place of a member that isn't there.
    @inline(__always) func isAbsence(_ place: JSONPlace) -> Bool {
        guard hasDialect, word(place.index).kind == .object else { return false }
        return reader.dialect?.isAbsence(JSONNode(self, place)) ?? false
    }
}
