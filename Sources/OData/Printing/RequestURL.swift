extension FetchRequest {
    /// Returns the URL relative to the service's root, percent-encoded.
    ///
    /// - Throws: ``ODataQueryError`` if a part can't be expressed.
    public func relativeURL(using printer: QueryPrinter = QueryPrinter()) throws(ODataQueryError) -> String {
        try printer.request(query)
    }
}

extension EntityRequest {
    /// Returns the URL relative to the service's root, percent-encoded.
    ///
    /// - Throws: ``ODataQueryError`` if a part can't be expressed.
    public func relativeURL(using printer: QueryPrinter = QueryPrinter()) throws(ODataQueryError) -> String {
        let misplaced: [(String, Bool)] = [
            ("$filter", options.filter != nil), ("$search", options.search != nil), ("$orderby", !options.order.isEmpty),
            ("$top", options.top != nil), ("$skip", options.skip != nil), ("$count", options.includesCount),
            ("$apply", !options.apply.isEmpty), ("$index", options.index != nil),
        ]
        if let option = misplaced.first(where: \.1) {
            throw .invalidOption(option.0, reason: "it doesn't apply to a single entity")
        }
        return try printer.request(query)
    }
}
