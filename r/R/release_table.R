# Everything is computed by the Python library: this file turns data frames into
# columns, and answers into data frames that remember their answer.

release_table <- function(df, columns, public, epsilon, sensitivity = 1L, cells = 1L,
                          drop = character(), ledger = NULL, name = NULL) {
  ut <- utmost_module()
  promise <- ut$Promise(columns = as.list(columns), public = as.list(public),
                        drop = as.list(drop), unit = ut$Unit(whole(sensitivity), cells = whole(cells)))
  as_release(published(as_columns(df), promise, epsilon, ledger, name))
}

release_counts <- function(people, person, by, at_most, epsilon, domain = NULL,
                           want = NULL, ledger = NULL, name = NULL) {
  ut <- utmost_module()
  if (is.null(domain)) {
    stop("domain must list the values of each column of `by`; pass ",
         "domain = list(sex = c(\"men\", \"women\")). Values found in the data ",
         "would say who is in them.", call. = FALSE)
  }
  axes <- ut$Domain(lapply(domain[by], as.list))
  counting <- ut$Counting(person, at_most = whole(at_most))
  counted <- ut$count_table(as_columns(people[c(person, by)]), axes, counting)
  if (is.null(want)) want <- paste(by, collapse = " ")
  wanted <- ut$Workload(axes, as.list(setNames(rep(1L, length(want)), want)))
  plan <- ut$choose_plan(wanted, counted$unit, epsilon = epsilon)
  # A ledger does not keep the counts: relax needs them again, for as long as this session lasts.
  structure(as_release(published(counted, plan, epsilon, ledger, name), want[[1]]), counted = counted)
}

noisy_table <- function(df, noise, source, claim = NULL) {
  ut <- utmost_module()
  declared <- lapply(noise, function(one) do.call(ut$interop$declared_noise, as.list(one)))
  as_release(ut$interop$noisy_table(as_columns(df), declared, source = source, claim = claim))
}

relax <- function(x, epsilon, df = NULL) {
  history <- answer_of(x)$release
  table <- if (is.null(df)) attr(x, "counted") else as_columns(df)
  structure(as_release(history$at(epsilon, table = table), attr(x, "marginal")), counted = attr(x, "counted"))
}

totals <- function(x, where = NULL, column = NULL, confidence = NULL) {
  bar <- answer_of(x)$total(selection(where), column = column, confidence = confidence)
  data.frame(value = bar$value, margin = bar$margin, lower = bar$value - bar$margin,
             upper = bar$value + bar$margin, confidence = number(bar$confidence))
}

ratios <- function(x, where, over = NULL, column = NULL, confidence = NULL) {
  bar <- answer_of(x)$ratio(selection(where), selection(over), column = column,
                            confidence = confidence)
  estimate <- if (is.null(bar$estimate)) NA_real_ else bar$estimate
  data.frame(estimate = estimate, lower = bar$lower, upper = bar$upper,
             determined = bar$determined, confidence = number(bar$confidence))
}

statement <- function(x) {
  answer <- answer_of(x)
  if (reticulate::py_has_attr(answer, "declaration")) {  # another tool's noise
    trust <- unlist(answer$declaration$on_trust)
    return(data.frame(label = c("guarantee", rep("on trust", length(trust))),
                      value = c(answer$guarantee, trust)))
  }
  # Nothing is converted on the way: a Python list of one would come back as no list.
  raw <- reticulate::import_builtins(convert = FALSE)$getattr
  said <- if (answer$is_by_plan) reticulate::py_call(raw(raw(answer, "table"), "facts")) else raw(answer, "statement")
  facts <- reticulate::import("utmost", convert = FALSE)$statements$stated_release(said)
  text <- function(fact, name) reticulate::py_to_r(raw(fact, name))
  rows <- reticulate::iterate(facts$rows, function(fact) {
    data.frame(label = text(fact, "label"), value = text(fact, "value"))
  })
  rbind(data.frame(label = "guarantee", value = text(facts, "guarantee")), do.call(rbind, rows))
}

write_release <- function(x, path, overwrite = FALSE) {
  answer_of(x)$save(path.expand(path), overwrite = overwrite)
  invisible(path)
}

read_release <- function(path) {
  as_release(utmost_module()$statements$read_release(path.expand(path)))
}

open_ledger <- function(path, create = FALSE) {
  utmost_module()$Ledger$open(path.expand(path), create = create)
}

print.utmost_release <- function(x, ...) {
  print(as.data.frame(unclass_release(x)), ...)
  cat(statement(x)$value[[1]], "\n")
  invisible(x)
}

# A part of a release is a plain data frame: its rows were chosen, and it has no statement.
`[.utmost_release` <- function(x, ...) {
  unclass_release(x)[...]
}

unclass_release <- function(x) {
  attr(x, "answer") <- NULL
  attr(x, "marginal") <- NULL
  attr(x, "counted") <- NULL
  class(x) <- "data.frame"
  x
}

utmost_module <- function() {
  tryCatch(reticulate::import("utmost"), error = function(error) {
    stop("the Python library utmost is not installed in the Python of reticulate (",
         reticulate::py_config()$python, "). Install it there, or call ",
         "reticulate::use_python(\"/path/to/python\") first.", call. = FALSE)
  })
}

published <- function(table, promise, epsilon, ledger, name) {
  ut <- utmost_module()
  if (is.null(ledger)) return(ut$release(table, promise, epsilon = epsilon))
  if (is.null(name)) stop("a ledger needs name = \"admissions\", say", call. = FALSE)
  ledger$publish(name, table, promise, epsilon = epsilon)
}

# Lists of single values: reticulate would make a number of a vector of one.
as_columns <- function(df) {
  if (!is.data.frame(df)) stop("a table must be a data frame", call. = FALSE)
  lapply(as.list(df), function(column) {
    if (is.factor(column)) column <- as.character(column)
    lapply(seq_along(column), function(row) if (is.na(column[[row]])) NULL else column[[row]])
  })
}

as_release <- function(answer, marginal = NULL) {
  by_plan <- reticulate::py_has_attr(answer, "is_by_plan") && answer$is_by_plan
  if (by_plan && is.null(marginal)) marginal <- names(reticulate::iterate(answer, identity))[[1]]
  table <- if (by_plan) reticulate::py_get_item(answer, marginal) else answer$table
  columns <- utmost_columns(table)
  df <- as.data.frame(columns, stringsAsFactors = FALSE, optional = TRUE)
  structure(df, answer = answer, marginal = marginal, class = c("utmost_release", "data.frame"))
}

utmost_columns <- function(table) {
  files <- reticulate::import("utmost.tables.files.files")
  lapply(files$columns(table), function(column) {
    column <- lapply(column, function(cell) if (is.null(cell)) NA else cell)
    unlist(column)
  })
}

answer_of <- function(x) {
  answer <- attr(x, "answer")
  if (is.null(answer)) {
    stop("this is a plain data frame: pass what release_table, release_counts or ",
         "read_release returned", call. = FALSE)
  }
  answer
}

selection <- function(where) {
  if (is.null(where) || length(where) == 0) return(NULL)
  lapply(where, function(labels) as.list(as.character(labels)))
}

whole <- function(x) if (is.numeric(x) && x == round(x)) as.integer(x) else x

number <- function(fraction) reticulate::import_builtins()$float(fraction)
