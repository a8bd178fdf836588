// The types that most members have find and read them in one call.

extension Bool {
    /// A Boolean that is an object's member.
    public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> Bool {
        try json.document.bool(at: json.place(ofMember: name))
    }

    /// The same; `nil` when the member isn't there or is null.
    public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> Bool? {
        guard let place = try json.place(ofPresent: name) else { return nil }
        return try json.document.bool(at: place)
    }
}

extension String {
    /// A string that is an object's member.
    public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> String {
        try json.document.string(at: json.place(ofMember: name))
    }

    /// The same; `nil` when the member isn't there or is null.
    public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> String? {
        guard let place = try json.place(ofPresent: name) else { return nil }
        return try json.document.string(at: place)
    }
}

extension Double {
    /// A number that is an object's member.
    public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> Double {
        try json.document.double(at: json.place(ofMember: name))
    }

    /// The same; `nil` when the member isn't there or is null.
    public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> Double? {
        guard let place = try json.place(ofPresent: name) else { return nil }
        return try json.document.double(at: place)
    }
}

extension Int {
    /// A whole number that is an object's member.
    public static func _member(_ name: StaticString, of json: borrowing JSONCursor) throws -> Int {
        try json.document.integer(at: json.place(ofMember: name))
    }

    /// The same; `nil` when the member isn't there or is null.
    public static func _memberIfPresent(_ name: StaticString, of json: borrowing JSONCursor) throws -> Int? {
        guard let place = try json.place(ofPresent: name) else { return nil }
        return try json.document.integer(at: place)
    }
}
