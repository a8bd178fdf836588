/// What the large body is read as: some strings, numbers, a list and a nested object, as services send them.
public struct Repository: Decodable, Sendable {
    /// A person or an organisation.
    public struct Owner: Decodable, Sendable {
        /// The name.
        public let login: String
        /// The number.
        public let id: Int
        /// Where the picture is.
        public let avatar: String
        /// Whether the owner runs the site.
        public let isAdministrator: Bool
    }

    /// A mark with a colour.
    public struct Label: Decodable, Sendable {
        /// The number.
        public let id: Int
        /// The name.
        public let name: String
        /// The colour.
        public let color: String
    }

    /// The number.
    public let id: Int
    /// The name.
    public let name: String
    /// The name with the owner's.
    public let fullName: String
    /// What it is.
    public let description: String?
    /// Whom it belongs to.
    public let owner: Owner
    /// What it is about.
    public let topics: [String]
    /// The marks of its issues.
    public let labels: [Label]
    /// How many watch it.
    public let watchers: Int
    /// A share of something.
    public let score: Double
    /// Whether it is closed to the public.
    public let isPrivate: Bool
}

/// What the small body is read as.
public struct Health: Decodable, Sendable {
    /// The number.
    public let id: Int
    /// The name.
    public let name: String
    /// Whether all is well.
    public let isActive: Bool
}
